#!/bin/sh
# Makes the weights in this folder from ../shared/data: about 7 hours on two free cores.
# Every step is seeded; the two trainers go on from their last checkpoint with --resume.
# Needs the train extra:  python3.11 -m venv .venv-train && .venv-train/bin/pip install '.[train]'
# with lxml; for path-traced pictures the trace extra with LLVM 17 or later (Debian: libllvm19,
# DRJIT_LIBLLVM_PATH); and from Debian 12 lettering and tile sets of other games:
#   fonts-aoyagi-soseki fonts-arphic-bkai00mp fonts-arphic-bsmi00lp fonts-arphic-gbsn00lp
#   fonts-arphic-gkai00mp fonts-arphic-ukai fonts-arphic-uming fonts-babelstone-han
#   fonts-cns11643-kai fonts-cns11643-sung fonts-cwtex-fs fonts-cwtex-heib fonts-cwtex-kai
#   fonts-cwtex-ming fonts-cwtex-yen fonts-dejima-mincho fonts-hanazono fonts-ipaexfont-mincho
#   fonts-kiloji fonts-klee fonts-kouzan-mouhitsu fonts-lxgw-wenkai fonts-morisawa-bizud-gothic
#   fonts-motoya-l-cedar fonts-motoya-l-maruberi fonts-noto-cjk fonts-noto-cjk-extra
#   fonts-oradano-mincho-gsrr fonts-reggae fonts-seto fonts-wqy-microhei fonts-wqy-zenhei
#   fonts-yozvox-yozfont fonts-yusei-magic fonts-freefont-ttf
#   xmahjongg gnome-mahjongg kdegames-mahjongg-data-kf5
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

# 5. Tile sets nobody has seen: made-up sets in camera-like pictures and on rendered tables; three
#    sets of other games lend drawings, three others (and the project's own faces) are kept back.
run outside --out "$RUNS/sets"
LENT="$RUNS/sets/default $RUNS/sets/dorothys $RUNS/sets/classic"
run compose $PHOTOS --art "$DATA/art" --sets $LENT --out "$RUNS/made" --count 2700 --seed 31 \
  --made-up 0.82 --widths 18 64 --develop --dense
run scenes --art "$DATA/art" --out "$RUNS/scenes2" --count 220 --seed 41 --made-up 0.9 \
  --sets "$RUNS/sets/default" "$RUNS/sets/dorothys"
run mine "$RUNS/scenes2" "$RUNS/made" --weights "$RUNS/models1"
run face_bank --art "$DATA/art" --sets "$RUNS/sets/default" "$RUNS/sets/dorothys" \
  --out "$RUNS/flowers.npz" --count 1400
run train_reader $PHOTOS --relabel "$RUNS/relabel.json" --start "$RUNS/reader4/last.pt" \
  --synthetic "$RUNS/synth2" "$RUNS/synth4" "$RUNS/scenes" --developed "$RUNS/made" \
  "$RUNS/scenes2" --fresh 0.85 --synthetic-crops 54 --flowers "$RUNS/flowers.npz" \
  --flower-crops 48 --out "$RUNS/reader6" --steps 6700 --lr 1.5e-3 --final-lr 1e-5 --seed 24
run train_reader $PHOTOS --relabel "$RUNS/relabel.json" --start "$RUNS/reader6/last.pt" \
  --synthetic "$RUNS/synth2" "$RUNS/synth4" "$RUNS/scenes" --developed "$RUNS/made" \
  "$RUNS/scenes2" --fresh 0.85 --synthetic-crops 40 --flowers "$RUNS/flowers.npz" \
  --flower-crops 24 --out "$RUNS/reader7" --steps 400 --lr 3e-4 --final-lr 1e-5 --seed 26

# 6. What Western sets write on their tiles, ends of tiles, and crops of 96 px (before: 64).
#    --start also takes models/tile_reader.onnx: the weights here can be trained on without 1 to 5.
run compose $PHOTOS --art "$DATA/art" --sets $LENT --out "$RUNS/made3" --count 1677 --seed 61 \
  --made-up 0.85 --widths 18 64 --develop --dense
run scenes --art "$DATA/art" --out "$RUNS/scenes3" --count 260 --seed 71 --made-up 0.85 \
  --sets "$RUNS/sets/default" "$RUNS/sets/dorothys"
run mine "$RUNS/scenes3" "$RUNS/made3" --weights "$RUNS/models1"
run face_bank --art "$DATA/art" --sets "$RUNS/sets/default" "$RUNS/sets/dorothys" \
  --out "$RUNS/flowers3.npz" --count 3000 --seed 81
run compose $PHOTOS --art "$DATA/art" --sets $LENT "$RUNS/sets/traditional" --out "$RUNS/made4" \
  --count 500 --seed 63 --made-up 0.5 --widths 18 64 --develop --dense
run scenes --art "$DATA/art" --out "$RUNS/scenes4" --count 72 --seed 73 \
  --faces $LENT "$RUNS/sets/traditional"
# (The last two joined at step 6,700, after *traditional* had served as a set left out.)
run train_reader $PHOTOS --relabel "$RUNS/relabel.json" --start "$RUNS/reader7/last.pt" \
  --synthetic "$RUNS/synth" --developed "$RUNS/made3" "$RUNS/scenes3" "$RUNS/made4" \
  "$RUNS/scenes4" --fresh 0.88 --synthetic-crops 56 --flowers "$RUNS/flowers3.npz" \
  --flower-crops 36 --out "$RUNS/reader8" --steps 9000 --lr 1.5e-3 --final-lr 1e-5 --seed 31

# 7. Both go on: flat numerals, banded Whites, letters that spell, tiles cut by the picture's edge, backs of
#    the felt's colour. The finder starts from its ONNX file, so that 1 to 6 are not needed for it.
run scenes --art "$DATA/art" --out "$RUNS/scenes5" --count 240 --seed 91 --made-up 0.8 \
  --hidden-backs 0.5 --sets "$RUNS/sets/default" "$RUNS/sets/dorothys"
run face_bank --art "$DATA/art" --sets "$RUNS/sets/default" "$RUNS/sets/dorothys" \
  --out "$RUNS/flowers5.npz" --count 2500 --seed 181
run compose $PHOTOS --art "$DATA/art" --sets $LENT "$RUNS/sets/traditional" --out "$RUNS/made5" \
  --count 1800 --seed 161 --made-up 0.85 --widths 18 64 --develop --dense
T="$RUNS/traced_train"
run traced --train "$DATA/art" --sets $LENT "$RUNS/sets/traditional" --out "$T" --count 60 \
  --seed 801 --rays 24
run mine "$RUNS/scenes5" "$T" --weights "$RUNS/models1"
# (The traced pictures, and more backs among the crops, joined the finder at step 1,200 and the
# reader at step 2,300.)
run train_detector $PHOTOS --relabel "$RUNS/relabel.json" --synthetic-share 0.65 --synthetic "$RUNS/synth" \
  "$RUNS/made3" "$RUNS/made4" "$RUNS/scenes3" "$RUNS/scenes4" "$RUNS/scenes5" "$T" "$T" \
  --start models/tile_finder.onnx --out "$RUNS/finder3" --steps 2200 --lr 8e-4 --final-lr 1e-5 --seed 7
run train_reader $PHOTOS --relabel "$RUNS/relabel.json" --start "$RUNS/reader8/last.pt" \
  --synthetic "$RUNS/synth" --developed "$RUNS/made3" "$RUNS/made4" "$RUNS/made5" "$RUNS/scenes3" \
  "$RUNS/scenes4" "$RUNS/scenes5" "$T" "$T" "$T" "$T" "$T" --fresh 0.9 --synthetic-crops 60 \
  --flowers "$RUNS/flowers5.npz" --flower-crops 36 --out "$RUNS/reader9" --steps 4000 --lr 1e-3 --final-lr 1e-5 --seed 41
# Too many flowers beside too few birds made flowers of birds: the last steps saw a bank with both.
run face_bank --art "$DATA/art" --sets $LENT "$RUNS/sets/traditional" --out "$RUNS/pictures6.npz" \
  --count 2500 --seed 281
run train_reader $PHOTOS --relabel "$RUNS/relabel.json" --start "$RUNS/reader9/last.pt" \
  --synthetic "$RUNS/synth" --developed "$RUNS/made3" "$RUNS/made4" "$RUNS/made5" "$RUNS/scenes3" \
  "$RUNS/scenes4" "$RUNS/scenes5" "$T" "$T" "$T" "$T" "$T" --fresh 0.9 --synthetic-crops 60 \
  --flowers "$RUNS/pictures6.npz" --flower-crops 36 --out "$RUNS/reader10" --steps 1000 --lr 5e-4 \
  --final-lr 1e-5 --seed 51

# 8. The reader grows by a residual block in each stage (identities at first) and learns what is no tile from
#    pictures without tiles (Debian's opencv-doc, gnome-backgrounds, mate-backgrounds,
#    plasma-workspace-wallpapers, supertuxkart-data, unpacked under $RUNS/pictures), from books and cutting mats
#    in the photographs; one stick as 1s in a seventh of the made-up sets; 120 path-traced tables.
run clutter "$RUNS/pictures" --weights "$RUNS/models1" --out "$RUNS/clutter.npz"
run face_bank --art "$DATA/art" --sets $LENT "$RUNS/sets/traditional" --out "$RUNS/pictures7.npz" \
  --count 2000 --seed 381
run compose $PHOTOS --art "$DATA/art" --sets $LENT "$RUNS/sets/traditional" --out "$RUNS/made7" \
  --count 1500 --seed 261 --made-up 0.85 --widths 18 64 --develop --dense
run compose $PHOTOS --art "$DATA/art" --sets $LENT "$RUNS/sets/traditional" --out "$RUNS/made8" \
  --count 1000 --seed 461 --made-up 0.9 --widths 18 64 --develop --dense
run scenes --art "$DATA/art" --out "$RUNS/scenes7" --count 160 --seed 191 --made-up 0.85 \
  --hidden-backs 0.4 --sets "$RUNS/sets/default" "$RUNS/sets/dorothys"
T="$RUNS/traced_train7"
run traced --train "$DATA/art" --sets $LENT "$RUNS/sets/traditional" --out "$T" --count 120 \
  --seed 1801 --rays 24
run mine "$RUNS/scenes7" "$T" --weights "$RUNS/models1"
run train_reader $PHOTOS --relabel "$RUNS/relabel.json" --clutter "$RUNS/clutter.npz" \
  --start "$RUNS/reader10/last.pt" --developed "$RUNS/made7" "$RUNS/made8" "$RUNS/scenes7" \
  $T $T $T $T $T $T --fresh 1.0 --synthetic-crops 56 --flowers "$RUNS/pictures7.npz" \
  --flower-crops 32 --out "$RUNS/reader11" --steps 4000 --lr 1.2e-3 --final-lr 1e-5 --seed 61

# 9. Do made pictures help on photographs of a source never seen? (Not part of the weights.)
OTHERS="--groups cmd-train cmd-valid --batch 96 --input-px 48"
LONG="--steps 9000 --lr 2e-3 --seed 71"
run train_reader $PHOTOS --relabel "$RUNS/relabel.json" $OTHERS $LONG --synthetic-crops 0 \
  --out "$RUNS/cmp_without"
run train_reader $PHOTOS --relabel "$RUNS/relabel.json" $OTHERS $LONG --developed "$RUNS/made7" \
  "$RUNS/made8" "$RUNS/scenes7" --fresh 1.0 --synthetic-crops 44 --flowers "$RUNS/pictures7.npz" \
  --flower-crops 12 --out "$RUNS/cmp_with"
for arm in cmp_without cmp_with; do
  run train_reader $PHOTOS --relabel "$RUNS/relabel.json" $OTHERS --steps 1200 --lr 6e-4 \
    --final-lr 1e-5 --seed 72 --synthetic-crops 0 --start "$RUNS/$arm/last.pt" --out "$RUNS/${arm}_last"
  run names $PHOTOS --input-px 48 --reader "$RUNS/$arm/last.pt"
  run names $PHOTOS --input-px 48 --reader "$RUNS/${arm}_last/last.pt"
done

# 10. Export, make int8 of it; calibrate on the held-out twelfth of the training photographs and on rendered
#    tables with a kept-back set; score.
run scenes --art "$DATA/art" --out "$RUNS/scenes_cal" --count 16 --seed 98 \
  --faces "$RUNS/sets/smooth"
run export --finder "$RUNS/finder3/last.pt" --reader "$RUNS/reader11/last.pt" --out "$RUNS/float" --version 5
run quantize $PHOTOS --pictures "$RUNS/traced_train7" "$RUNS/scenes7" --weights "$RUNS/float" --out models
run traced --train "$DATA/art" --faces "$RUNS/sets/smooth" --out "$RUNS/traced_cal" --count 6 \
  --seed 898 --rays 24
run calibrate $PHOTOS --weights models --scenes "$RUNS/scenes_cal" "$RUNS/traced_cal" \
  --clutter "$RUNS/pictures"
run evaluate $PHOTOS --weights models --out "$RUNS/eval"
run evaluate_scenes --weights models --count 20
run traced --count 9 --seed 701 --sets "$RUNS/sets/real" "$RUNS/sets/smooth" --out "$RUNS/traced"
run traced --count 6 --seed 702 --out "$RUNS/traced"
run evaluate_scenes --weights models --pictures "$RUNS/traced"
run evaluate_scenes --weights models --count 12 --seed 401 --tile-px 28 48 --unknown-size --one-set
run evaluate_scenes --weights models --count 16 --seed 402 --tile-px 28 48 --unknown-size --one-set \
  --sets "$RUNS/sets/real" "$RUNS/sets/smooth"
run evaluate_scenes --weights models --count 24 --seed 78 --tile-px 28 48 --unknown-size \
  --sets "$RUNS/sets/real" "$RUNS/sets/smooth" "$RUNS/sets/traditional"
run traced --layout --count 8 --seed 711 --sets "$RUNS/sets/real" "$RUNS/sets/smooth" \
  "$RUNS/sets/utils" "$RUNS/sets/black" --out "$RUNS/layouts"
run traced --layout --count 2 --seed 712 --out "$RUNS/layouts"
run evaluate_scenes --weights models --pictures "$RUNS/traced" --layouts "$RUNS/layouts"
run clutter "$RUNS/pictures" --weights models
run robustness --weights models --frames 4 --sets "$RUNS/sets/real"
run compare_peers --tables 4
