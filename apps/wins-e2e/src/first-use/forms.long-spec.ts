import { runWins } from '../testing/built-program.js';
import { namedCommands } from '../testing/named-commands.js';

/** Commands that print no data except the output of a program, a log, or a script. */
const WITHOUT = [
  'cli prc run',
  'cli prc logs',
  'cli prc attach',
  'cli prc wait',
  'cli prc rm',
  'cli proxy',
  'cli route add',
  'cli route rm',
  'srv app run',
  'logs',
  'completion',
];
/** A schema is always JSON. */
const JSON_ALONE = ['srv config schema'];

describe('the forms of an answer', () => {
  it('are json, yaml, table and name for every command that prints data (finding 25)', async () => {
    const commands = await namedCommands((args) => runWins(args, process.env));
    const data = commands.filter(
      ({ name, below }) => below.length === 0 && !WITHOUT.includes(name),
    );
    expect(data.length).toBeGreaterThan(15);
    const lacking = data.flatMap(({ name, help }) => {
      const [, choices = ''] = /-o, --output .*?\[choices: ([^\]]*)\]/s.exec(help) ?? [];
      const wanted = JSON_ALONE.includes(name)
        ? ['json', 'yaml']
        : ['json', 'yaml', 'table', 'name'];
      return wanted.every((form) => choices.includes(`"${form}"`)) ? [] : [name];
    });
    expect(lacking).toEqual([]);
  });
});
