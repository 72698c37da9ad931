import { StateFile } from '@wins/files';
import { errnoOf } from '@wins/base';
import { createHash } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { keeperRecord, type KeeperRecord } from './keeper-messages.js';

const MAX_RECORD_BYTES = 4096;
const NAME = /^keeper\.[0-9a-f]{16}\.json$/;

function recordFile(file: string): StateFile<KeeperRecord> {
  return new StateFile({
    path: file,
    maxBytes: MAX_RECORD_BYTES,
    parse: (json) => keeperRecord.parse(json),
    damaged: () => undefined,
  });
}

/** Returns the record file of a keeper. Any process that can read it may start programs. */
export function keeperRecordFile(folder: string, keeper: string): StateFile<KeeperRecord> {
  const name = createHash('sha256').update(keeper).digest('hex').slice(0, 16);
  return recordFile(path.join(folder, `keeper.${name}.json`));
}

/** Returns all readable records, including those of dead keepers. @throws any error of Node for a folder that cannot be read. */
export async function readKeeperRecords(folder: string): Promise<readonly KeeperRecord[]> {
  let names: readonly string[];
  try {
    names = await readdir(folder);
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return [];
    throw error;
  }
  const records: KeeperRecord[] = [];
  for (const name of names.filter((each) => NAME.test(each))) {
    const record = await recordFile(path.join(folder, name))
      .read()
      .catch(() => undefined);
    if (record !== undefined) records.push(record);
  }
  return records;
}
