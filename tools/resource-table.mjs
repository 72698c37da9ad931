// Writes the table of resources that clients share, between its marks in docs/architecture.md.
import { loadSources } from './load-sources.mjs';

const SOURCES = `
  export { FEATURES } from './features/features.js';
  export { resourceTable, PROCESSOR } from './kernel/admission/resources.js';`;
const MARKS = /(<!-- resources -->\n)[^]*(<!-- end of resources -->)/;
/** Large enough not to limit a daemon. */
const DESCRIPTORS = 1_048_576;
const MIB = 1024 * 1024;

/** Returns the page with the current table, not formatted. */
export async function withResourceTable(page) {
  const { FEATURES, resourceTable, PROCESSOR } = await loadSources(SOURCES, 'apps/wins-server/src');
  const all = Object.assign(
    {},
    resourceTable(DESCRIPTORS),
    ...FEATURES.map(({ resources }) => resources),
  );
  const row = (...cells) => `| ${cells.join(' | ')} |\n`;
  const rows = Object.entries(all).map(([name, resource]) => {
    const { what, total, reserve, floor, atLimit } = resource;
    const figure = (count) => (/bytes/.test(what) ? mebibytes(count) : count.toLocaleString('en'));
    const isTheirs = /^admin|^followers$/.test(name);
    const share = isTheirs ? '' : `${figure(Math.floor(total / 2))}; ${floor}`;
    const kept = isTheirs ? 'all of it' : figure(reserve);
    return row(`\`${name}\``, what, figure(total), share, kept, atLimit);
  });
  const { quantumMs, requests, connects } = PROCESSOR;
  const rate = (what, { burst, perSecond }) => `${perSecond} ${what} a second, ${burst} at once`;
  const asked = `${rate('requests', requests)}; ${rate('connections', connects)}`;
  const processor = row(
    '`processor`',
    'time of the daemon’s thread',
    'all of it',
    `${quantumMs} ms a turn; ${asked}`,
    'every second turn',
    'input waits',
  );
  const head = row('resource', 'what', 'total', 'a client: at most; at least', 'administrators');
  const cells = head.replace(/\n$/, ' at the limit |\n');
  const table = `${cells}${row(...Array(6).fill('---'))}${rows.join('')}${processor}`;
  return page.replace(MARKS, `$1\n${table}\n$2`);
}

/** Whether the page has the current table, in any format. */
export async function hasResourceTable(page) {
  const plain = (text) => text.replace(/\s+|-{3,}/g, '');
  return plain(await withResourceTable(page)) === plain(page);
}

function mebibytes(bytes) {
  return `${bytes / MIB} MiB`;
}
