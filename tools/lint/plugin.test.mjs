import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Linter } from 'eslint';
import plugin from './plugin.mjs';

const ASSIGNMENTS = [
  'export function last(list, index) {\n  return list[--index];\n}',
  'export function last(list, index) {\n  return list[index--];\n}',
  'export function last(list) {\n  let index = 0;\n  index = 1;\n  return index;\n}',
];

for (const source of ASSIGNMENTS)
  test(`an assignment without use is found in ${JSON.stringify(source)}`, () => {
    /** @type {*} - The types of ESLint know no plugin for Oxlint. */
    const config = { plugins: { wins: plugin }, rules: { 'wins/no-useless-assignment': 'error' } };
    const found = new Linter().verify(source, [config]);
    assert.deepEqual(
      found.map(({ ruleId }) => ruleId),
      ['wins/no-useless-assignment'],
    );
  });
