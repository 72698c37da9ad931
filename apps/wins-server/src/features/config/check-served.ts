import { describeLosses } from '@wins/config';
import { howToDrop } from '../../configuration/config-guard.js';
import type { Check } from '../../doctor/doctor-host.js';
import { problem, warning } from '../../doctor/finding.js';

/** Checks for guarded keys of the served config, or of the one before the last start, that this config lacks. */
export const checkServed: Check = {
  name: 'config',
  needsConfig: true,
  look: async (host, loaded) => {
    const { config, path } = loaded;
    const note = await host.servedNote(config.listen);
    if (note === undefined) return [];
    const refused = await host.missingKeys(note.served, loaded);
    const findings = [];
    if (refused.length > 0) {
      const found = `${path} lacks keys that are in force. A running daemon refuses it, but the next start accepts it: ${describeLosses(refused)}`;
      findings.push(problem('config', found, advice(path, refused)));
    }
    if (note.lost.length > 0) {
      const found = `since the start of ${note.lostAt ?? 'the daemon'} the config lacks keys that were in force: ${describeLosses(note.lost)}`;
      findings.push(warning('config', found, advice(path, note.lost)));
    }
    return findings;
  },
};

function advice(file: string, keys: Parameters<typeof howToDrop>[1]): string {
  return `put it back, or allow its removal: ${howToDrop(file, keys)}`;
}
