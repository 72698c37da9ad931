import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { NumberedFiles, RollingFile, StateFile } from '@wins/files';

const folder = await mkdtemp(path.join(tmpdir(), 'example-'));
const files = new NumberedFiles({ folder, prefix: 'events', suffix: 'jsonl', digits: 6 });
const file = new RollingFile(files);
for (const text of ['{"type":"started"}', '{"type":"stopped"}']) {
  // This caller starts a new file for each line; others may go by size or count.
  await file.open(file.number + 1);
  await file.append(Buffer.from(`${text}\n`));
}
await file.close();
for (const number of await files.numbers())
  for await (const lines of files.lines(number, { maxLineBytes: 65_536 }))
    for (const { text } of lines) console.log(files.nameOf(number), text);

const state = new StateFile({
  path: path.join(folder, 'count.json'),
  maxBytes: 1024,
  parse: (json) => Number((json as { count: unknown }).count),
  damaged: () => 0,
});
await state.write({ count: 2 });
console.log(await state.read());
