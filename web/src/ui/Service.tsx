import type { ComponentChildren, VNode } from "preact";
import { cameraSeverity, linkSeverity, type Severity } from "../derive";
import type { Health } from "../messages";
import { cameraText } from "../text";
import { Bi } from "./Bi";
import { useView } from "./context";
import { StaleNotice, Toasts } from "./Notices";

const MARK: Readonly<Record<Severity, string>> = { good: "✓", warn: "…", bad: "✕" };

/** Health of everything that the score rests on, for the person with the screwdriver. */
export function Service(): VNode {
  const { model, live } = useView();
  const { health } = model;
  return (
    <main class="service" data-testid="service">
      <header>
        <a href="#" class="back-link">‹ <Bi en="Table" zh="牌桌" /></a>
        <h1><Bi en="Service" zh="維護" /></h1>
        <span class="version">{model.table} · {health?.version}</span>
      </header>
      <StaleNotice />
      {health === null ? (
        <p><Bi en="No health report yet." zh="尚無狀態報告。" /></p>
      ) : (
        <div class={live ? "" : "dimmed"}>
          <Problems health={health} />
          <div class="cards">
            <LinkCard health={health} />
            <CameraCard health={health} />
            <Card title={<Bi en="Recording" zh="錄製" />} severity={health.recording === null ? "warn" : "good"} id="recording">
              <Row label={<Bi en="File" zh="檔案" />}>{health.recording ?? "—"}</Row>
              <Row label={<Bi en="Open questions" zh="待確認" />}>{model.questions.open.length}</Row>
            </Card>
          </div>
        </div>
      )}
      <Toasts />
    </main>
  );
}

function Problems({ health }: { readonly health: Health }): VNode {
  if (health.problems.length === 0) {
    return <p class="all-well" data-testid="no-problems">✓ <Bi en="No problems reported." zh="一切正常。" /></p>;
  }
  return (
    <ul class="problem-list" data-testid="service-problems">
      {health.problems.map((problem) => <li key={problem}>⚠ {problem}</li>)}
    </ul>
  );
}

interface CardProps {
  readonly title: VNode;
  readonly severity: Severity;
  readonly id: string;
  readonly children: ComponentChildren;
}

function Card({ title, severity, id, children }: CardProps): VNode {
  return (
    <section class={`card ${severity}`} data-testid={`card-${id}`} data-severity={severity}>
      <h2><i aria-hidden="true">{MARK[severity]}</i> {title}</h2>
      <dl>{children}</dl>
    </section>
  );
}

function Row({ label, children }: { readonly label: ComponentChildren; readonly children: ComponentChildren }): VNode {
  return (
    <div class="row">
      <dt>{label}</dt>
      <dd>{children}</dd>
    </div>
  );
}

const LINK_TEXT: Readonly<Record<Health["link"]["state"], { en: string; zh: string }>> = {
  off: { en: "off", zh: "未使用" },
  connecting: { en: "connecting", zh: "連線中" },
  up: { en: "up", zh: "正常" },
  lost: { en: "lost: comes back by itself", zh: "中斷：會自動恢復" },
  refused: { en: "refused: not our firmware", zh: "拒絕：韌體不符" },
  fault_latched: { en: "fault latched: needs a person", zh: "故障鎖定：需人工處理" },
};

function LinkCard({ health }: { readonly health: Health }): VNode {
  const { link } = health;
  return (
    <Card title={<Bi en="Table link" zh="牌桌連線" />} severity={linkSeverity(health)} id="link">
      <Row label={<Bi en="State" zh="狀態" />}><Bi {...LINK_TEXT[link.state]} /></Row>
      {link.reason !== "" && <Row label={<Bi en="Why" zh="原因" />}>{link.reason}</Row>}
      <Row label={<Bi en="Port" zh="埠" />}>{link.port || "—"}</Row>
      <Row label={<Bi en="Firmware" zh="韌體" />}>{link.firmware || "—"}</Row>
      {link.board !== "" && <Row label={<Bi en="Board, last reset" zh="電路板、上次重置" />}>{link.board}, {link.last_reset}</Row>}
      <Row label={<Bi en="Table" zh="牌桌" />}>{link.table_state}</Row>
      {link.fault !== null && <Row label={<Bi en="Fault" zh="故障" />}><strong><Bi en={link.fault} zh={link.fault_zh || link.fault} /></strong></Row>}
      {link.fault_remedy !== "" && <Row label={<Bi en="Remedy" zh="處理" />}><Bi en={link.fault_remedy} zh={link.fault_remedy_zh || link.fault_remedy} /></Row>}
      <Row label={<Bi en="Round trip" zh="往返時間" />}>{link.round_trip_ms === null ? "—" : `${link.round_trip_ms} ms`}</Row>
      <Row label={<Bi en="Errors in the last minute" zh="最近一分鐘錯誤" />}><span class="num">{link.errors_per_minute}</span></Row>
      <Counters counters={link.counters} />
      {Object.keys(link.table_counters).length > 0 && (
        <>
          <Row label={<b><Bi en="At the table's end" zh="牌桌端" /></b>}>{""}</Row>
          <Counters counters={link.table_counters} />
        </>
      )}
    </Card>
  );
}

function CameraCard({ health }: { readonly health: Health }): VNode {
  const text = cameraText(health.camera);
  return (
    <Card title={<Bi en="Camera" zh="攝影機" />} severity={cameraSeverity(health)} id="camera">
      <Row label={<Bi en="State" zh="狀態" />}><span data-testid="camera-state" data-state={health.camera}><Bi {...text.state} /></span></Row>
      <Row label={<Bi en="Newest frame" zh="最新影像" />}>{health.camera_frame_age.toFixed(1)} s</Row>
      <Row label={<Bi en="Sight" zh="視野" />}>{health.sight}</Row>
      <Row label={<Bi en="Detector" zh="辨識" />}>{health.detector_ms === null ? "—" : `${Math.round(health.detector_ms)} ms`}</Row>
      {health.camera_remedy !== "" && <Row label={<Bi en="Remedy" zh="處理" />}><Bi en={health.camera_remedy} zh={text.remedy || health.camera_remedy} /></Row>}
      <Row label={<Bi en="Calibration" zh="校準" />}><a href="#calibrate" class="back-link" data-testid="to-calibrate"><Bi en="show or change" zh="檢視或更改" /></a></Row>
      <Row label={<Bi en="Tile set" zh="認牌" />}><a href="#teach" class="back-link" data-testid="to-teach"><Bi en="show or change" zh="檢視或更改" /></a></Row>
      <Counters counters={health.camera_counters} />
    </Card>
  );
}

function Counters({ counters }: { readonly counters: Readonly<Record<string, number>> }): VNode {
  return (
    <>
      {Object.entries(counters).map(([name, count]) => (
        <Row key={name} label={name.replaceAll("_", " ")}><span class="num">{count}</span></Row>
      ))}
    </>
  );
}
