// A rule for check-defaults-and-keys.mjs: the default in the doc comment of a property or parameter is the one that the code uses.
import { isDeepStrictEqual } from 'node:util';
import ts from 'typescript';
import { codeDefaults, constantOf } from './code-defaults.mjs';
import { statedDefault } from './stated-default.mjs';

/** Larger numbers mean "no limit". */
const NO_LIMIT = 2 ** 31 - 1;
const SOURCES = /\/libs\/[^/]+\/src\/(?!(?:.*\/)?testing\/|.*spec\.ts$)/;

/** @type {WeakMap<ts.Program, ReturnType<typeof codeDefaults>>} */
const searched = new WeakMap();

/**
 * @param {ts.Program} program
 * @param {ts.SourceFile} file
 */
export function* wrongDefaults(
  program,
  file,
  isSearched = (/** @type {string} */ name) => SOURCES.test(name),
) {
  // The checker sets the parents of nodes.
  const checker = program.getTypeChecker();
  for (const [node, stated] of documented(file)) {
    let defaults = searched.get(program);
    if (defaults === undefined) {
      const names = new Set(
        program
          .getSourceFiles()
          .filter(({ fileName }) => isSearched(fileName))
          .flatMap((each) => Array.from(documented(each), ([{ name }]) => name.getText())),
      );
      defaults = codeDefaults(program, { isSearched, names });
      searched.set(program, defaults);
    }
    const values = defaults.get(node) ?? [];
    // Other libraries may have defaults of their own for options that they pass on.
    const own = values.filter((value) => projectOf(value) === projectOf(node));
    const message = faultOf(stated, own.length > 0 ? own : values, checker);
    if (message !== undefined) yield { node, message };
  }
}

/**
 * @param {ts.SourceFile} file
 * @returns {Generator<[ts.PropertySignature | ts.ParameterDeclaration, NonNullable<ReturnType<typeof statedDefault>>]>}
 */
function* documented(file) {
  if (!/\bDefault:? /.test(file.text)) return;
  /** @type {ts.Node[]} */
  const nodes = [file];
  for (const node of nodes) {
    ts.forEachChild(node, (child) => void nodes.push(child));
    const comments = ts.isPropertySignature(node)
      ? ts.getJSDocCommentsAndTags(node)
      : ts.isParameter(node)
        ? ts.getJSDocParameterTags(node)
        : [];
    for (const { comment } of comments) {
      const stated = statedDefault(textOf(comment));
      if (stated !== undefined)
        yield [/** @type {ts.PropertySignature | ts.ParameterDeclaration} */ (node), stated];
    }
  }
}

/** @param {ts.Node} node */
function projectOf(node) {
  return node.pos < 0 ? undefined : node.getSourceFile().fileName.split('/src/')[0];
}

/** @param {ts.JSDoc['comment']} comment */
function textOf(comment = '') {
  return typeof comment === 'string' ? comment : comment.map((part) => part.getText()).join('');
}

/**
 * @param {NonNullable<ReturnType<typeof statedDefault>>} stated
 * @param {readonly ts.Expression[]} values
 * @param {ts.TypeChecker} checker
 */
function faultOf(stated, values, checker) {
  const isFalse = stated === 'none' || ('flag' in stated && !stated.flag);
  if (values.length === 0)
    return isFalse ? undefined : 'cannot find the code that gives this default.';
  const other = values.find((value) => !isSame(stated, value, checker));
  if (other === undefined) return undefined;
  return `the code has another default: ${shownAs(other)}.`;
}

/** @param {ts.Expression} value */
function shownAs(value) {
  if (value.pos < 0) return 'true';
  const file = value.getSourceFile();
  const { line } = file.getLineAndCharacterOfPosition(value.getStart(file));
  return `${value.getText()} (${file.fileName.replace(/^.*\/(?=(?:libs|apps)\/)/, '')}:${line + 1})`;
}

/**
 * @param {NonNullable<ReturnType<typeof statedDefault>>} stated
 * @param {ts.Expression} value
 * @param {ts.TypeChecker} checker
 */
function isSame(stated, value, checker) {
  const constant = constantOf(value, checker);
  if (stated === 'none') return constant === undefined || isNothing(constant.value);
  if ('numbers' in stated) return isDeepStrictEqual([constant?.value].flat(), [...stated.numbers]);
  if ('flag' in stated) return constant?.value === stated.flag;
  return (
    constant?.value === stated.text || nameIn(value) === stated.text.replace(/^.*\.|\(\)$/g, '')
  );
}

/** @param {unknown} value */
function isNothing(value) {
  if (typeof value === 'number') return value === 0 || value >= NO_LIMIT;
  return (
    value === null ||
    value === '' ||
    value === false ||
    (Array.isArray(value) && value.length === 0)
  );
}

/**
 * The last name in an expression: `random` of `Math.random` and of `() => Math.random()`.
 *
 * @param {ts.Expression} value
 */
function nameIn(value) {
  const text = value.pos < 0 ? 'true' : value.getText();
  const whole = /^`(.*)`$/.exec(text)?.[1];
  if (whole !== undefined) return whole.replaceAll(/\$\{(\w+)\}/g, '$1');
  return text
    .replace(/^\(?\(\) => /, '')
    .replace(/\(.*$|\)$/, '')
    .replace(/^.*[.#]/, '');
}
