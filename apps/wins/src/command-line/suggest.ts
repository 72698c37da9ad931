import { quoteText } from '@wins/base';
import { closestMatch } from 'leven';
import { isGroup, type Command, type Group } from './command.js';

/** All known words are much shorter, so a longer word cannot match. */
const LONGEST_WORD = 40;

/** Commands of other programs, with the `wins` command for the same purpose. */
const SAME_MEANING: ReadonlyMap<string, string> = new Map([
  ['bundle', 'support-bundle'],
  ['diagnose', 'doctor'],
  ['dump', 'support-bundle'],
  ['exec', 'cli prc run'],
  ['health', 'status'],
  ['journal', 'logs'],
  ['kill', 'cli prc stop'],
  ['list', 'cli prc ls'],
  ['log', 'logs'],
  ['port-forward', 'cli proxy'],
  ['ps', 'cli prc ls'],
  ['remove', 'uninstall'],
  ['run', 'cli prc run'],
  ['start', 'cli prc run'],
  ['tail', 'logs -f'],
  ['validate', 'srv config check'],
]);

/** Returns `; did you mean "run"?`, or an empty string. */
export function suggest(word: string, known: readonly string[]): string {
  if (word.length > LONGEST_WORD) return '';
  const maxDistance = Math.min(2, Math.ceil(word.length / 2));
  return meant(closestMatch(word.toLowerCase(), known, { maxDistance }));
}

/**
 * Tries `word` as a command of another program, then as a command of any group of `wins`, then as a misspelling. Spelling is tried last, because
 * "top" resembles "up" and means "wins cli prc top".
 */
export function suggestCommand(word: string, root: Group, at: Group): string {
  const named = SAME_MEANING.get(word) ?? pathTo(word, at) ?? pathTo(word, root);
  if (named !== undefined) return meant(`wins ${named}`);
  const known = at.commands.flatMap(({ name, aliases = [], isHidden }) =>
    isHidden === true ? [] : [name, ...aliases],
  );
  return suggest(word, known);
}

/** Prefers commands nearer to the group. */
function pathTo(word: string, group: Group): string | undefined {
  let level: readonly (readonly [string, Group | Command])[] = [['', group]];
  while (level.length > 0) {
    const next = level.flatMap(([path, node]) =>
      isGroup(node) ? node.commands.map((each) => [`${path} ${each.name}`, each] as const) : [],
    );
    const found = next.find(
      ([, { name, aliases, isHidden }]) =>
        isHidden !== true && (name === word || aliases?.includes(word)),
    );
    if (found !== undefined) return `${group.name === 'wins' ? '' : group.name}${found[0]}`.trim();
    level = next;
  }
  return undefined;
}

function meant(found: string | undefined): string {
  return found === undefined ? '' : `; did you mean ${quoteText(found)}?`;
}
