// A rule for check-defaults-and-keys.mjs: some code reads each property of the config. The library of the config itself does not count, because it
// handles all keys alike. A property that only this library reads has a comment that begins with `Unread:` and gives the reason
// (`unread` in its schema).
import ts from 'typescript';

const SOURCES = /\/(?:libs|apps)\/[^/]+\/src\/(?!(?:.*\/)?testing\/|.*spec\.ts$)/;
const CONFIG = /\/libs\/config\//;

const MARK = /^\/\/ Unread: ./;

/**
 * @param {ts.Program} program
 * @param {ts.SourceFile} file
 */
export function* wrongKeys(program, file) {
  const unread = new Set(unreadProperties(program, file));
  for (const node of propertiesIn(file))
    if (unread.has(node) !== isMarked(node, file))
      yield {
        node,
        message: unread.has(node)
          ? `no code reads ${node.name.getText()}.`
          : `remove the comment, because code reads ${node.name.getText()}.`,
      };
}

/**
 * @param {ts.Node} node
 * @param {ts.SourceFile} file
 */
function isMarked(node, file) {
  const comments = ts.getLeadingCommentRanges(file.text, node.pos) ?? [];
  return comments.some(({ pos, end }) => MARK.test(file.text.slice(pos, end)));
}

/**
 * Returns the properties that the types of a file declare, and that no code of another library or program reads. Code may read a property under
 * another type, to which it was passed by a spread in an object or a list.
 *
 * @param {ts.Program} program
 * @param {ts.SourceFile} file
 */
export function unreadProperties(program, file) {
  const checker = program.getTypeChecker();
  const declared = propertiesIn(file);
  const names = new Set(declared.map(({ name }) => name.getText()));
  /** @type {Set<ts.Node>} */
  const read = new Set();
  /** @type {Map<ts.Node, Set<ts.Node>>} */
  const passed = new Map(declared.map((property) => [property, new Set([property])]));
  const files = program
    .getSourceFiles()
    .filter(({ fileName }) => SOURCES.test(fileName) && !CONFIG.test(fileName));
  const importers = importersOf(program, file);
  const [near, far] = [true, false].map((isNear) =>
    files.filter((each) => importers.has(each) === isNear),
  );
  for (const each of near) visitPassed(each);
  let unread = declared;
  for (const each of [...near, ...far]) {
    visitRead(each, new Set(unread.map(({ name }) => name.getText())));
    unread = unread.filter(
      (property) => ![...(passed.get(property) ?? [])].some((one) => read.has(one)),
    );
  }
  return unread;

  /** @param {ts.Node} node */
  function visitPassed(node) {
    if (ts.isSpreadAssignment(node) || ts.isSpreadElement(node))
      passTo(node.expression, node.parent);
    else if (ts.isCallExpression(node))
      for (const argument of node.arguments) passTo(argument, argument);
    ts.forEachChild(node, visitPassed);
  }

  /**
   * @param {ts.Node} node
   * @param {ReadonlySet<string>} wanted - Names of properties that no visited node has read.
   */
  function visitRead(node, wanted) {
    if (ts.isPropertyAccessExpression(node) && wanted.has(node.name.text))
      addRead(checker.getSymbolAtLocation(node.name));
    else if (ts.isBindingElement(node)) addBound(node, wanted);
    else if (ts.isBinaryExpression(node)) addTested(node, wanted);
    ts.forEachChild(node, (child) => visitRead(child, wanted));
  }

  /**
   * Looks for the type that is wanted at `place` only if a value of the config may go there: for an argument, the compiler then resolves the whole
   * call.
   *
   * @param {ts.Expression} value
   * @param {ts.Expression} place
   */
  function passTo(value, place) {
    if (!ts.isIdentifier(value) && !ts.isPropertyAccessExpression(value)) return;
    const type = checker.getTypeAtLocation(value);
    if (!partsOf(type).some((part) => part.getProperties().some(isDeclared))) return;
    const target = checker.getContextualType(place);
    if (target) pass(type, target);
  }

  /** @param {ts.Symbol} symbol */
  function isDeclared({ declarations = [] }) {
    return declarations.some((each) => passed.has(each));
  }

  /** @param {ts.Symbol | undefined} symbol */
  function addRead(symbol) {
    for (const declaration of symbol?.declarations ?? []) read.add(declaration);
  }

  /**
   * @param {ts.BindingElement} element
   * @param {ReadonlySet<string>} wanted
   */
  function addBound({ parent, name, propertyName, dotDotDotToken }, wanted) {
    if (!ts.isObjectBindingPattern(parent) || dotDotDotToken) return;
    const bound = (propertyName ?? name).getText();
    // A name that begins with an underscore is unused.
    if (!wanted.has(bound) || name.getText().startsWith('_')) return;
    addRead(checker.getPropertyOfType(checker.getTypeAtLocation(parent), bound));
  }

  /**
   * `'name' in value`.
   *
   * @param {ts.BinaryExpression} expression
   * @param {ReadonlySet<string>} wanted
   */
  function addTested({ left, operatorToken, right }, wanted) {
    if (operatorToken.kind !== ts.SyntaxKind.InKeyword) return;
    if (!ts.isStringLiteral(left) || !wanted.has(left.text)) return;
    for (const part of partsOf(checker.getTypeAtLocation(right)))
      addRead(part.getProperty(left.text));
  }

  /**
   * Records the properties that a value takes along to another type, at any depth.
   *
   * @param {ts.Type} from
   * @param {ts.Type} to
   * @param {number} depth
   */
  function pass(from, to, depth = 0) {
    if (depth > 5) return;
    const targets = partsOf(to);
    for (const part of partsOf(from))
      for (const symbol of part.getProperties()) {
        if (!names.has(symbol.name)) continue;
        const own = symbol.declarations?.find((each) => passed.has(each));
        if (own === undefined) continue;
        for (const target of targets) {
          const other = target.getProperty(symbol.name);
          for (const each of other?.declarations ?? []) passed.get(own)?.add(each);
          if (other)
            pass(checker.getTypeOfSymbol(symbol), checker.getTypeOfSymbol(other), depth + 1);
        }
      }
  }

  /**
   * The members of a union, and the items of lists.
   *
   * @param {ts.Type} type
   * @returns {readonly ts.Type[]}
   */
  function partsOf(type) {
    if (type.isUnion()) return type.types.flatMap(partsOf);
    const item = checker.isArrayType(type)
      ? checker.getTypeArguments(/** @type {ts.TypeReference} */ (type))[0]
      : undefined;
    return item === undefined ? [type] : partsOf(item);
  }
}

/**
 * Returns the files that import a file, directly or through others. No other file has values of the types that it declares.
 *
 * @param {ts.Program} program
 * @param {ts.SourceFile} file
 * @returns {ReadonlySet<ts.Node>}
 */
function importersOf(program, file) {
  const checker = program.getTypeChecker();
  /** @type {Map<ts.Node, ts.SourceFile[]>} */
  const direct = new Map();
  for (const each of program.getSourceFiles())
    for (const specifier of /** @type {{ imports: ts.Expression[] }} */ (
      /** @type {unknown} */ (each)
    ).imports)
      for (const imported of checker.getSymbolAtLocation(specifier)?.declarations ?? [])
        direct.set(imported, [...(direct.get(imported) ?? []), each]);
  /** @type {Set<ts.Node>} */
  const found = new Set([file]);
  // The loop also visits the files that it adds.
  for (const each of found) for (const importer of direct.get(each) ?? []) found.add(importer);
  return found;
}

/** @param {ts.SourceFile} file */
function propertiesIn(file) {
  /** @type {ts.Node[]} */
  const nodes = [file];
  for (const node of nodes) ts.forEachChild(node, (child) => void nodes.push(child));
  return nodes.filter(ts.isPropertySignature);
}
