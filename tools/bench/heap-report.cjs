// Preloaded by the programs that are measured (`node --require`): says how many bytes a program has put on its JavaScript heap.
//
// V8 tells the size of the heap before and after each collection. What it has grown by from the end of one to the beginning of the
// next was allocated meanwhile, whether it lived or not; the sum of these is the figure. It is that of the main thread. The
// bytes of buffers lie outside of the heap and are not in it: V8 frees them at any time, so that no such sum can be made of them.
'use strict';
const { renameSync, writeFileSync } = require('node:fs');
const path = require('node:path');
const { GCProfiler, getHeapStatistics } = require('node:v8');

const used = () => getHeapStatistics().used_heap_size;

/** Begins to add up; what is returned ends it and returns the sum. */
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
  // Who waits for the file finds it whole.
  renameSync(`${file}.part`, file);
}

const file = process.env.WINS_BENCH_HEAP_FILE;
if (file !== undefined) {
  // A program that is measured from its start to its end.
  const count = countHeapBytes();
  process.on('exit', () => report(file, String(count())));
} else {
  // One that is measured from one signal to the next.
  let count;
  process.on('SIGUSR2', () => {
    const bytes = count?.();
    count = count === undefined ? countHeapBytes() : undefined;
    const folder = String(process.env.WINS_BENCH_HEAP_FOLDER);
    report(path.join(folder, String(process.pid)), String(bytes ?? ''));
  });
}
