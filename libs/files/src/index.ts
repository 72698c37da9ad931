/**
 * Files that a program reads again at its next start. Rolling files grow line by line; state files are replaced as a whole. The
 * caller decides when a rolling file is full, which files to remove, and what replaces a damaged state file. Links are never followed.
 *
 * @example
 * const files = new NumberedFiles({ folder, prefix: 'events', suffix: 'jsonl', digits: 6 });
 * const file = new RollingFile(files);
 * await file.open((await files.numbers()).at(-1) ?? 1);
 * await file.append(Buffer.from('{"type":"started"}\n'));
 * await file.close();
 * @packageDocumentation
 */
export type { FileLine, LineOptions } from './rolling/file-lines.js';
export { NumberedFiles, type NumberedFilesOptions } from './rolling/numbered-files.js';
export { RollingFile, type RollingFileOptions } from './rolling/rolling-file.js';
export { StateFile, type StateFileOptions } from './state/state-file.js';
