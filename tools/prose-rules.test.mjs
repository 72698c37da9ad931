import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findings } from './prose-rules.mjs';

const LONG = Array.from({ length: 36 }, (_, at) => `word${at}`).join(' ');
/** @param {string} text */
const cell = (text) => `| a | ${text} |\n`;

for (const [title, file, text, wanted] of [
  [
    'a doc comment that begins with What',
    'a.ts',
    // Split in two, because the prose check reads this file too.
    '/** ' + 'What it is. */',
    'first word of a doc comment',
  ],
  ['a doc comment of several lines', 'a.ts', '/**\n * Of it.\n */', 'first word of a doc comment'],
  ['a long sentence of a comment', 'a.ts', `// ${LONG}.`, 'long sentence'],
  ['a long sentence over lines', 'a.ts', `// ${LONG.replace(' ', '\n// ')}.`, 'long sentence'],
  ['a long sentence of a page', 'a.md', `${LONG}.`, 'long sentence'],
  ['a word of nobody else', 'a.md', 'It sees to the pipe.', 'word that is ruled out'],
  ['a long cell', 'a.md', cell('ab '.repeat(70)), 'long cell of a table'],
])
  test(`${title} is found, with its line`, () => {
    const found = findings(file, `\n${text}\n`);
    assert.ok(
      found.some(({ rule, line }) => rule === wanted && line === 2),
      JSON.stringify(found),
    );
  });

for (const [title, file, text] of [
  ['a comment with a subject', 'a.ts', '/** Returns what it is. */\n// The reason.'],
  ['two sentences', 'a.md', `${LONG.slice(0, 120)}. ${LONG.slice(0, 120)}.`],
  ['code in a page', 'a.md', `\`\`\`sh\n${LONG} whoever\n\`\`\``],
  ['a tag of a doc comment', 'a.ts', '/**\n * Returns it.\n *\n * @param a - Of it.\n */'],
])
  test(`${title} is no finding`, () => {
    assert.deepEqual(findings(file, text), []);
  });
