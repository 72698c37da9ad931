import type { ConfigProblemCode } from './config-problem.js';

/** What to do about a problem of each kind, where the problem itself does not say it better. */
export const NEXT_STEP: Readonly<Record<ConfigProblemCode, string>> = {
  accessDenied: "run this as an administrator or as the daemon's user",
  controlCharacter: 'remove the character, or write it as an escape',
  duplicateEntry: 'remove one of them',
  duplicateKey: 'remove one of them',
  insecure: 'make it and the folders above it writable by administrators alone',
  legacySpelling: 'write the key as expected',
  missing: 'add the key',
  multipleDocuments: 'remove what follows the line "---"',
  noEffect: 'remove it, or add what it needs',
  noWhiteList: 'list the programs',
  notFound: 'write the file, or name another one',
  notRegularFile: 'put a regular file there',
  notUtf8: 'save the file as UTF-8',
  syntax: 'correct the line; indentation and quotes decide',
  tooDeep: 'use fewer levels',
  tooLarge: 'shorten the file',
  tooManyProblems: 'name a config file',
  tooManyValues: 'use fewer values',
  twoSpellings: 'remove one of them',
  unknown: 'look at the cause',
  unknownKey: 'correct or remove the key; "wins srv config explain" lists all',
  unsupported: 'write the value itself',
  wrongType: 'write what is expected; "wins srv config explain KEY" says more',
  wrongValue: 'write what is expected; "wins srv config explain KEY" says more',
};
