import { command, readOption, runCommandLine, type Group } from '@wins/command-line';
import { UsageError } from '@wins/wins-program';

const readTimes = (text: string): number => {
  if (/^[1-9]$/.test(text)) return Number(text);
  throw new UsageError(`--times: found ${text}; wanted 1 to 9`);
};
const greet = command({
  ...{ name: 'greet', summary: 'Greet somebody', page: 'greet.md' },
  positional: { name: 'whom', describe: 'who is greeted' },
  options: { times: readOption('how often', readTimes) },
  // Without `times` it is undefined, as its type says.
  run: async ({ times = 1 }, { word = 'world' }, { show }) => {
    const text = `hello ${word}\n`.repeat(times);
    await show({ value: { text }, text });
    return 0;
  },
});
const root: Group = { name: 'wins', summary: 'Greet', page: 'README.md', commands: [greet] };

const words = ['greet', 'Ada', '-times', '2'];
const code = await runCommandLine(root, words, ({ text = '' }) => {
  process.stdout.write(text);
  return Promise.resolve(true);
});
console.log(code);
