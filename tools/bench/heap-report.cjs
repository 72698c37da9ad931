// Preloaded by measured programs (`node --require`): reports how many bytes a program has allocated on its JavaScript heap.
//
// V8 reports the size of the main thread's heap before and after each collection. The figure is the sum of the growth between collections, so it
// counts all allocations, even short-lived ones. Buffers lie outside the heap and do not count.
'use strict';
const { renameSync, writeFileSync } = require('node:fs');
const path = require('node:path');
const { GCProfiler, getHeapStatistics } = require('node:v8');

const used = () => getHeapStatistics().used_heap_size;

/** Starts counting; the returned function stops and returns the sum. */
function countHeapBytes() {
  const profiler = new GCProfiler();
  profiler.start();
  let last = used();
  return () => {
    const end = used();
    let bytes = 0;
    for (const { beforeGC, afterGC } of profiler.stop().statistics) {
      bytes += beforeGC.heapStatistics.usedHeapSize - last;
      last = afterGC.heapStatistics.usedHeapSize;
    }
    return bytes + end - last;
  };
}

function report(file, text) {
  writeFileSync(`${file}.part`, text);
  // Renamed when complete, because the reader waits only until the file exists.
  renameSync(`${file}.part`, file);
}

const file = process.env.WINS_BENCH_HEAP_FILE;
if (file !== undefined) {
  // Measures this program from its start to its end.
  const count = countHeapBytes();
  process.on('exit', () => report(file, String(count())));
} else {
  // Measures this program from one signal to the next.
  let count;
  process.on('SIGUSR2', () => {
    const bytes = count?.();
    count = count === undefined ? countHeapBytes() : undefined;
    const folder = String(process.env.WINS_BENCH_HEAP_FOLDER);
    report(path.join(folder, String(process.pid)), String(bytes ?? ''));
  });
}
