#!/bin/sh
# Makes the weights in this folder from ../shared/data: about 4 hours on two free cores.
# Every step is seeded; the two trainers go on from their last checkpoint with --resume.
# Needs the train extra:  python3.11 -m venv .venv-train && .venv-train/bin/pip install '.[train]'
# and, for variety of lettering (Debian): fonts-noto-cjk fonts-arphic-ukai fonts-arphic-bkai00mp
# fonts-cwtex-kai.
set -eu
cd "$(dirname "$0")/.."
PYTHON=${PYTHON:-.venv-train/bin/python}
DATA=${DATA:-../shared/data}
RUNS=${RUNS:-runs}
NOTO=/usr/share/fonts/opentype/noto
TTF=/usr/share/fonts/truetype
export YOLO_OFFLINE=true OMP_NUM_THREADS="${OMP_NUM_THREADS:-1}"
run() { name=$1; shift; "$PYTHON" -m "vision.training.$name" "$@"; }
PHOTOS="--photos $DATA/photos"

# 1. Made pictures: flat compositions, the same with lettered faces, rendered tables.
run compose $PHOTOS --art "$DATA/art" --out "$RUNS/synth" --count 2400 --seed 11
run compose $PHOTOS --art "$DATA/art" --out "$RUNS/synth2" --count 1000 --seed 12 \
  --fonts "$NOTO/NotoSerifCJK-Bold.ttc" "$NOTO/NotoSansCJK-Bold.ttc" "$NOTO/NotoSansCJK-Regular.ttc"
run compose $PHOTOS --art "$DATA/art" --out "$RUNS/synth3" --count 500 --seed 14 \
  --fonts "$TTF/arphic-bkai00mp/bkai00mp.ttf" "$TTF/arphic/ukai.ttc" "$TTF/cwtex/cwkai.ttf"
run compose $PHOTOS --art "$DATA/art" --out "$RUNS/synth4" --count 500 --seed 15 \
  --fonts "$TTF/arphic-bkai00mp/bkai00mp.ttf" "$TTF/arphic/ukai.ttc" "$TTF/cwtex/cwkai.ttf" \
  "$NOTO/NotoSerifCJK-Bold.ttc" "$NOTO/NotoSansCJK-Bold.ttc"
run scenes --art "$DATA/art" --out "$RUNS/scenes" --count 280
run scenes --art "$DATA/art" --out "$RUNS/scenes_held" --count 14 --seed 99

# 2. First stage: both networks from scratch, partly labelled photographs masked.
run train_detector $PHOTOS --synthetic "$RUNS/synth" "$RUNS/scenes" --out "$RUNS/finder1" \
  --steps 1800
run train_reader $PHOTOS --synthetic "$RUNS/synth" --out "$RUNS/reader1" --steps 1800
run export --finder "$RUNS/finder1/last.pt" --reader "$RUNS/reader1/last.pt" \
  --out "$RUNS/models1" --version first-stage

# 3. What the first stage finds: tiles without a label in photographs, false finds in made pictures.
run relabel $PHOTOS --weights "$RUNS/models1" --out "$RUNS/relabel.json"
run mine "$RUNS/scenes" "$RUNS/synth2" --weights "$RUNS/models1"

# 4. Second stage.
MADE="$RUNS/synth $RUNS/synth2 $RUNS/synth3 $RUNS/scenes"
run train_detector $PHOTOS --relabel "$RUNS/relabel.json" --synthetic $MADE \
  --synthetic-share 0.4 --start "$RUNS/finder1/last.pt" --out "$RUNS/finder2" --steps 1200 --lr 8e-4
run train_reader $PHOTOS --relabel "$RUNS/relabel.json" --synthetic $MADE \
  --start "$RUNS/reader1/last.pt" --out "$RUNS/reader2" --steps 3000 --lr 1.2e-3 --final-lr 1e-5
S4="$RUNS/synth4 $RUNS/synth4"
run train_reader $PHOTOS --relabel "$RUNS/relabel.json" --start "$RUNS/reader2/last.pt" \
  --synthetic $S4 "$RUNS/synth3" "$RUNS/synth" "$RUNS/scenes" "$RUNS/scenes" \
  --synthetic-crops 76 --out "$RUNS/reader3" --steps 900 --lr 6e-4 --final-lr 1e-5 --seed 6
run train_reader $PHOTOS --relabel "$RUNS/relabel.json" --start "$RUNS/reader3/last.pt" \
  --synthetic $S4 "$RUNS/synth4" "$RUNS/synth" "$RUNS/scenes" \
  --synthetic-crops 84 --out "$RUNS/reader4" --steps 420 --lr 7e-4 --final-lr 1e-5 --seed 8

# 5. Export, calibrate on the held-out twelfth of the training photographs, score.
run export --finder "$RUNS/finder2/last.pt" --reader "$RUNS/reader4/last.pt" --out models --version 1
run calibrate $PHOTOS --weights models --scenes "$RUNS/scenes_held"
run evaluate $PHOTOS --weights models --out "$RUNS/eval"
run evaluate_scenes --weights models --count 20
