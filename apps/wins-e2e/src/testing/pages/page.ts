import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { ROOT } from '../workspace.js';

export interface Block {
  readonly language: string;
  readonly text: string;
  /** Line of its opening fence. */
  readonly line: number;
}

const markdownIn = (folder: string) =>
  readdirSync(path.join(ROOT, folder))
    .filter((file) => file.endsWith('.md'))
    .map((file) => path.join(folder, file));

/** Pages for users, relative to the checkout; decision records and READMEs of libraries are excluded. */
export const PAGES = [
  ...markdownIn('.'),
  ...markdownIn('docs'),
  ...markdownIn('docs/releases'),
  'charts/rancher-wins-upgrader/README.md',
];

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

/** Turns shown output into a pattern: `…` matches any text of a line, and a line of `…` alone matches any lines. */
export function shownOutput(text: string): RegExp {
  const lines = text.trimEnd().split('\n');
  const patterns = lines.map((line, index) => {
    if (line === '…') return '(?:[^\\n]*\\n)*';
    const parts = line.split('…').map((part) => part.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'));
    return `${parts.join('[^\\n]*')}${index === lines.length - 1 ? '\\n*' : '\\n'}`;
  });
  return new RegExp(`^${patterns.join('')}$`);
}
