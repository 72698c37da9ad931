const MOST_WORDS = 35;
/** Limit in characters. Longer content belongs in a section or in data. */
const MOST_IN_CELL = 200;

const FIRST_WORDS = /^(?:What|Whoever|Whom|Whose|Who|Of|As|Told)\b/;
/** Words that sound translated, and words that only this project used. */
const WORDS =
  /\b(?:whoever|whomever|is (?:told|asked for|had|seen to|let go)|are (?:told|had|seen to|let go)|sees? to|comes? to rest|lends? a hand|a thing of)\b/i;

/**
 * Finds text that breaks the writing rules, in the comments of a source or in a page.
 *
 * @param {string} file - Path; the extension `.md` marks a page.
 * @param {string} text
 * @returns {{ rule: string, line: number, text: string }[]}
 */
export function findings(file, text) {
  return file.endsWith('.md') ? ofPage(text) : ofSource(text);
}

/** @param {string} source */
function ofSource(source) {
  return [...source.matchAll(/\/\*\*([\s\S]*?)\*\/|(?:^[ \t]*\/\/(?!\/).*\n?)+/gm)].flatMap(
    ([whole, doc], index, all) => {
      const line = lineAt(source, all[index]?.index ?? 0);
      const text = (doc ?? whole)
        .replace(/^[ \t]*(?:\*|\/\/) ?/gm, '')
        .replace(/```[\s\S]*?```/g, '')
        .trim();
      const firsts = doc !== undefined && FIRST_WORDS.test(text);
      return [
        ...(firsts ? [{ rule: 'first word of a doc comment', line, text: beginningOf(text) }] : []),
        ...ofSentences(
          text.replace(/^@\w+(?: \{.*?\})?(?: [\w.[\]]+ -)?/gm, '\n\n').split(/\n\s*\n/),
        ).map((found) => ({ ...found, line })),
      ];
    },
  );
}

/** @param {string} page */
function ofPage(page) {
  const text = page
    .replace(/^(```+)[\s\S]*?^\1/gm, (block) => block.replace(/[^\n]/g, ''))
    // Skips lines that quote titles of tests, because these titles come from the specs.
    .replace(/^- `[^`]+` ".*$/gm, '');
  const found = [];
  let at = 1;
  for (const paragraph of text.split(/\n/)) {
    if (paragraph.startsWith('|')) {
      const cells = paragraph.split(/(?<!\\)\|/).map((cell) => cell.trim());
      for (const cell of cells.filter(({ length }) => length > MOST_IN_CELL))
        found.push({ rule: 'long cell of a table', line: at, text: beginningOf(cell) });
      found.push(...ofSentences(cells).map((one) => ({ ...one, line: at })));
    }
    at += 1;
  }
  const prose = text.replace(/^\|.*$/gm, '').split(/\n\s*\n|\n(?=\s*(?:[-*]|\d+\.) )|\n(?=#)/);
  let from = 0;
  for (const paragraph of prose.map((one) => one.trim()).filter(Boolean)) {
    from = text.indexOf(paragraph.slice(0, 80), from);
    const line = lineAt(text, from);
    found.push(...ofSentences([paragraph]).map((one) => ({ ...one, line })));
  }
  return found;
}

/** @param {readonly string[]} paragraphs */
function ofSentences(paragraphs) {
  return paragraphs
    .map((paragraph) => paragraph.replace(/`[^`]*`/g, 'x').replace(/\s+/g, ' '))
    .flatMap((paragraph) => paragraph.split(/(?<=[.!?:;])\s/))
    .flatMap((sentence) => [
      ...(sentence.split(' ').length > MOST_WORDS
        ? [{ rule: 'long sentence', text: beginningOf(sentence) }]
        : []),
      ...(WORDS.test(sentence)
        ? [{ rule: 'word that is ruled out', text: beginningOf(sentence) }]
        : []),
    ]);
}

/** @param {string} text */
function beginningOf(text) {
  return text.replace(/\s+/g, ' ').slice(0, 90);
}

/**
 * @param {string} text
 * @param {number} index
 */
function lineAt(text, index) {
  return text.slice(0, index).split('\n').length;
}
