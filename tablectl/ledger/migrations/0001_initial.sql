-- Sessions, hands and who paid what. Amounts are points, positive for those who receive.
CREATE TABLE sessions (
    id TEXT PRIMARY KEY,
    table_id TEXT NOT NULL,
    rules TEXT NOT NULL,
    options TEXT NOT NULL CHECK (json_valid(options)),
    names TEXT NOT NULL CHECK (json_valid(names)),
    started REAL NOT NULL,
    ended REAL
) STRICT;

-- revision is the settlement that counts; 0 while the hand is being written.
CREATE TABLE hands (
    id TEXT PRIMARY KEY,
    session_id TEXT NOT NULL REFERENCES sessions (id),
    number INTEGER NOT NULL,
    revision INTEGER NOT NULL DEFAULT 0 CHECK (revision >= 0),
    UNIQUE (session_id, number)
) STRICT;

CREATE TABLE settlements (
    hand_id TEXT NOT NULL REFERENCES hands (id),
    revision INTEGER NOT NULL CHECK (revision >= 1),
    t REAL NOT NULL,
    detail TEXT NOT NULL CHECK (json_valid(detail)),
    PRIMARY KEY (hand_id, revision)
) STRICT;

CREATE TABLE payments (
    hand_id TEXT NOT NULL,
    revision INTEGER NOT NULL,
    seat INTEGER NOT NULL CHECK (seat BETWEEN 0 AND 3),
    amount INTEGER NOT NULL,
    PRIMARY KEY (hand_id, revision, seat),
    FOREIGN KEY (hand_id, revision) REFERENCES settlements (hand_id, revision)
) STRICT;

-- Why a settlement was replaced: revision is the new one.
CREATE TABLE corrections (
    hand_id TEXT NOT NULL,
    revision INTEGER NOT NULL CHECK (revision >= 2),
    t REAL NOT NULL,
    reason TEXT NOT NULL,
    PRIMARY KEY (hand_id, revision),
    FOREIGN KEY (hand_id, revision) REFERENCES settlements (hand_id, revision)
) STRICT;

-- A settlement counts from the moment in which the hand's revision names it, and only if nobody
-- wins what nobody loses.
CREATE TRIGGER hands_begin_unsettled BEFORE INSERT ON hands
WHEN new.revision <> 0
BEGIN
    SELECT RAISE(ABORT, 'a hand begins without a settlement');
END;

CREATE TRIGGER hands_sum_to_zero BEFORE UPDATE ON hands
WHEN (SELECT COUNT(*) FROM payments WHERE hand_id = new.id AND revision = new.revision) = 0
  OR (SELECT SUM(amount) FROM payments WHERE hand_id = new.id AND revision = new.revision) <> 0
BEGIN
    SELECT RAISE(ABORT, 'the payments of a hand must sum to zero');
END;

CREATE TRIGGER hands_go_forward BEFORE UPDATE ON hands
WHEN new.id <> old.id OR new.session_id <> old.session_id OR new.revision <> old.revision + 1
BEGIN
    SELECT RAISE(ABORT, 'a correction supersedes the settlement before it');
END;

CREATE TRIGGER payments_are_sealed BEFORE INSERT ON payments
WHEN new.revision <= (SELECT revision FROM hands WHERE id = new.hand_id)
BEGIN
    SELECT RAISE(ABORT, 'this settlement is sealed');
END;

CREATE TRIGGER payments_stay BEFORE UPDATE ON payments
BEGIN
    SELECT RAISE(ABORT, 'payments are never changed; correct the hand');
END;

CREATE TRIGGER payments_are_kept BEFORE DELETE ON payments
BEGIN
    SELECT RAISE(ABORT, 'payments are never deleted; correct the hand');
END;

CREATE VIEW current_payments AS
SELECT hands.session_id, hands.id AS hand_id, hands.number, hands.revision, seat, amount
FROM hands JOIN payments ON payments.hand_id = hands.id AND payments.revision = hands.revision;
