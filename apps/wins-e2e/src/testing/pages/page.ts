import { readFileSync } from 'node:fs';
import path from 'node:path';
import { ROOT } from '../workspace.js';

/** A block of a page between fences. */
export interface Block {
  readonly language: string;
  readonly text: string;
  /** The line of its first fence. */
  readonly line: number;
}

/** The text of a page, by its path from the root of the checkout. */
export function pageText(page: string): string {
  return readFileSync(path.join(ROOT, page), 'utf8');
}

export function blocksOf(text: string): Block[] {
  return [...text.matchAll(/^( *)```(\w*)\n([^]*?)^\1```$/gm)].map(
    ([, indent = '', language = '', body = ''], index, all) => ({
      language,
      text: body.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
      line: text.slice(0, all[index]?.index).split('\n').length,
    }),
  );
}

/** What a page shows as output: `…` stands for any text of a line, a line of `…` alone for any lines. */
export function shownOutput(text: string): RegExp {
  const lines = text.trimEnd().split('\n');
  const patterns = lines.map((line, index) => {
    if (line === '…') return '(?:[^\\n]*\\n)*';
    const parts = line.split('…').map((part) => part.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'));
    return `${parts.join('[^\\n]*')}${index === lines.length - 1 ? '\\n*' : '\\n'}`;
  });
  return new RegExp(`^${patterns.join('')}$`);
}
