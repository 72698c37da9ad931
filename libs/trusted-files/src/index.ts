/**
 * Who may write to a file or folder, private folders, durable replacement, digests and fingerprints of files.
 *
 * It does not know what the files are for, and raises errors of its own class only.
 *
 * @packageDocumentation
 */
export { syncFolder } from './sync-folder.js';
