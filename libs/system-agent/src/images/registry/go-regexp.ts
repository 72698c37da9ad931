import { quoteText } from '@wins/wins-program';
import { imageFailed } from '../image-failure.js';

/** The classes of POSIX that Go knows, as they are within brackets. */
const POSIX: Readonly<Record<string, string>> = {
  alnum: '0-9A-Za-z',
  alpha: 'A-Za-z',
  ascii: '\\x00-\\x7f',
  blank: '\\t ',
  cntrl: '\\x00-\\x1f\\x7f',
  digit: '0-9',
  graph: '!-~',
  lower: 'a-z',
  print: ' -~',
  punct: '!-\\/:-@\\[-`\\{-~',
  space: '\\t-\\r ',
  upper: 'A-Z',
  word: '0-9A-Za-z_',
  xdigit: '0-9A-Fa-f',
};
/** Places in a text, in groups: Go lets them be repeated. */
const PLACES: Readonly<Record<string, string>> = {
  '^': '(?:^)',
  '\\A': '(?:^)',
  $: '(?:$)',
  '\\z': '(?:$)',
  '\\b': '(?:\\b)',
  '\\B': '(?:\\B)',
};
const REPEAT = /^(?:[*+?]|\{\d+(?:,\d*)?\})(\?)?/;

/** What the flags of a group are. */
interface Flags {
  readonly ignoresCase: boolean;
  readonly isUngreedy: boolean;
}

/**
 * Makes a regular expression of Go's syntax (RE2) one of JavaScript, for the names of repositories: ASCII without capital letters, in one line. `i` is for
 * the expression's letters to be small ones then, and `m` and `s` mean nothing.
 *
 * @throws AgentError `imageFailed` for what Go refuses, and what cannot be translated; the message names the part.
 */
export function goRegExp(pattern: string): RegExp {
  const refused = (part: string, cause?: unknown): Error =>
    imageFailed(
      `rewrite the name of an image by ${quoteText(pattern)}`,
      `${quoteText(part)}, which cannot be used here`,
      "a regular expression of Go's",
      cause,
    );
  const outer: Flags[] = [];
  let flags: Flags = { ignoresCase: false, isUngreedy: false };
  let rest = pattern;
  let made = '';

  const take = (expression: RegExp): RegExpExecArray | undefined => {
    const match = expression.exec(rest) ?? undefined;
    rest = rest.slice(match?.[0].length ?? 0);
    return match;
  };
  const literal = (text: string, isInside = false): string =>
    (flags.ignoresCase ? text.toLowerCase() : text)
      .replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')
      .replace(/-/g, isInside ? '\\-' : '-');

  /** An escape that means the same within brackets and without. */
  function escaped(isInside = false): string | undefined {
    const code = take(
      /^\\(?:x([0-9a-fA-F]{2})|x\{([0-9a-fA-F]{1,6})\}|(0[0-7]{0,2}|[1-7][0-7]{1,2}))/,
    );
    if (code !== undefined) {
      const [, short, long, octal] = code;
      const point = octal === undefined ? parseInt(short ?? long ?? '', 16) : parseInt(octal, 8);
      if (point > 0x10ffff) throw refused(code[0]);
      return literal(String.fromCodePoint(point), isInside);
    }
    const property = take(/^\\([pP])(?:([A-Z])|\{(\^?)([A-Za-z_]+)\})/);
    if (property !== undefined) {
      const [, kind, letter, caret, long = letter ?? ''] = property;
      const isNegated = (kind === 'P') !== (caret === '^');
      const name = long === 'Any' || long.length <= 2 ? long : `Script=${long}`;
      return `\\${isNegated ? 'P' : 'p'}{${name}}`;
    }
    const same = take(/^\\[dDsSwWfnrtv]/);
    if (same !== undefined) return same[0];
    const bell = take(/^\\a/);
    if (bell !== undefined) return '\\x07';
    const sign = take(/^\\([!-/:-@[-`{-~])/);
    return sign?.[1] === undefined ? undefined : literal(sign[1], isInside);
  }

  function bracketed(): string {
    let inside = '';
    const [opened = ''] = take(/^\[\^?/) ?? [];
    for (let isFirst = true; isFirst || !rest.startsWith(']'); isFirst = false) {
      if (rest === '') throw refused(opened);
      const posix = take(/^\[:(\^?)(\w+):\]/);
      if (posix !== undefined) {
        const set = POSIX[posix[2] ?? ''];
        // The rest of a class would need a class within a class.
        if (set === undefined || posix[1] === '^') throw refused(posix[0]);
        inside += set + (flags.ignoresCase && posix[2] === 'upper' ? 'a-z' : '');
        continue;
      }
      const range = take(/^([A-Z])-([A-Z])/);
      if (range !== undefined) {
        inside += range[0] + (flags.ignoresCase ? range[0].toLowerCase() : '');
        continue;
      }
      if (rest.startsWith('\\')) {
        const escape = escaped(true);
        if (escape === undefined) throw refused(rest.slice(0, 2));
        inside += escape;
      } else {
        const [one = ''] = take(/^[^]/u) ?? [];
        const isRange = one === '-' && inside !== '' && !rest.startsWith(']');
        inside += isRange ? '-' : literal(one, true);
      }
    }
    rest = rest.slice(1);
    return `${opened}${inside}]`;
  }

  function group(): string {
    const named = take(/^\(\?P?<([A-Za-z_]\w*)>/);
    const plain = named === undefined ? take(/^\((?!\?)/) : undefined;
    if (named !== undefined || plain !== undefined) {
      outer.push(flags);
      return named === undefined ? '(' : `(?<${named[1] ?? ''}>`;
    }
    const set = take(/^\(\?([imsU]*)(?:-([imsU]+))?([:)])/);
    if (set === undefined) throw refused(rest.slice(0, 4));
    const [, on = '', off = '', end] = set;
    if (end === ':') outer.push(flags);
    flags = {
      ignoresCase: !off.includes('i') && (on.includes('i') || flags.ignoresCase),
      isUngreedy: !off.includes('U') && (on.includes('U') || flags.isUngreedy),
    };
    return end === ':' ? '(?:' : '';
  }

  while (rest !== '') {
    const quoted = take(/^\\Q([^]*?)(?:\\E|$)/);
    const repeat = take(REPEAT);
    if (quoted !== undefined) made += literal(quoted[1] ?? '');
    else if (repeat !== undefined) {
      const [whole, lazy] = repeat;
      const bare = lazy === undefined ? whole : whole.slice(0, -1);
      made += bare + ((lazy !== undefined) !== flags.isUngreedy ? '?' : '');
    } else if (rest.startsWith('[')) made += bracketed();
    else if (rest.startsWith('(')) made += group();
    else if (rest.startsWith('\\')) {
      const place = take(/^\\[AzbB]/);
      const escape = place === undefined ? escaped() : PLACES[place[0]];
      if (escape === undefined) throw refused(rest.slice(0, 2));
      made += escape;
    } else {
      const [one = ''] = take(/^[^]/u) ?? [];
      if (one === ')') flags = outer.pop() ?? flags;
      made += PLACES[one] ?? ('.|)'.includes(one) ? one : literal(one));
    }
  }
  try {
    return new RegExp(made, 'gu');
  } catch (error) {
    throw refused(pattern, error);
  }
}
