// Finds the default values that the code gives to properties of options and to parameters.
import ts from 'typescript';

/**
 * Returns the expressions of all defaults, by the declaration of the property or parameter. They stand in destructuring, after `??`, in an object that
 * a spread overrides, in a constant with the type of the options, and in a function that gets the property as an argument.
 *
 * @param {ts.Program} program
 * @param {{ isSearched: (file: string) => boolean, names: ReadonlySet<string> }} options - `names`: names of the properties and parameters.
 * @returns {ReadonlyMap<ts.Node, readonly ts.Expression[]>}
 */
export function codeDefaults(program, { isSearched, names }) {
  const checker = program.getTypeChecker();
  /** @type {Map<ts.Node, ts.Expression[]>} */
  const found = new Map();
  /** Properties that options pass to the options of another function. @type {(readonly [from: ts.Node, to: ts.Node])[]} */
  const passed = [];
  for (const file of program.getSourceFiles()) if (isSearched(file.fileName)) visit(file);
  // A passed property has the default of the last function, through at most one function between them.
  for (const [from, to] of [...passed, ...passed]) {
    const values = found.get(to);
    if (values !== undefined && !found.has(from)) found.set(from, values);
  }
  return found;

  /**
   * @param {ts.Symbol | undefined} symbol
   * @param {ts.Expression} value
   */
  function add(symbol, value) {
    for (const declaration of symbol?.declarations ?? [])
      if (declaration !== value.parent)
        found.set(declaration, [...(found.get(declaration) ?? []), value]);
  }

  /** @param {ts.Node} node */
  function visit(node) {
    if (ts.isBindingElement(node) && node.initializer) add(boundProperty(node), node.initializer);
    else if (ts.isParameter(node) && node.initializer && names.has(node.name.getText()))
      found.set(node, [node.initializer]);
    else if (ts.isBinaryExpression(node)) addOperands(node);
    else if (ts.isObjectLiteralExpression(node)) addOverridden(node);
    else if (ts.isVariableDeclaration(node) && node.type && node.initializer) addConstant(node);
    else if (ts.isCallExpression(node) || ts.isNewExpression(node)) addArguments(node);
    ts.forEachChild(node, visit);
  }

  /**
   * `options.name ?? VALUE`, `options.name !== false` or `=== false`, and `options[name as keyof typeof VALUES] ?? value`.
   *
   * @param {ts.BinaryExpression} expression
   */
  function addOperands({ left, operatorToken: { kind }, right }) {
    const isComparison =
      kind === ts.SyntaxKind.ExclamationEqualsEqualsToken ||
      kind === ts.SyntaxKind.EqualsEqualsEqualsToken;
    if (isComparison && right.kind === ts.SyntaxKind.FalseKeyword)
      add(propertyOf(left), ts.factory.createTrue());
    if (kind !== ts.SyntaxKind.QuestionQuestionToken) return;
    if (ts.isElementAccessExpression(left)) addEach(left);
    else add(propertyOf(ts.isCallExpression(left) ? left.expression : left), right);
  }

  /** @param {ts.ElementAccessExpression} access */
  function addEach({ expression, argumentExpression }) {
    if (!ts.isAsExpression(argumentExpression)) return;
    const options = checker.getTypeAtLocation(expression);
    const values = checker.getTypeAtLocation(argumentExpression);
    for (const { value } of (values.isUnion() ? values.types : [values]).filter(isText))
      for (const symbol of propertiesNamed(options, value)) {
        const constant = constantsNamed(argumentExpression.type).get(value);
        if (constant) add(symbol, constant);
      }
  }

  /**
   * The properties of the constant in `keyof typeof CONSTANT`. Of a list, the first item is the default.
   *
   * @param {ts.TypeNode} type
   */
  function constantsNamed(type) {
    const query = ts.isTypeOperatorNode(type) ? type.type : type;
    const name = ts.isTypeQueryNode(query) ? query.exprName : undefined;
    /** @type {Map<string, ts.Expression>} */
    const values = new Map();
    if (!name || !ts.isIdentifier(name)) return values;
    for (const each of constantObject(name))
      if (ts.isPropertyAssignment(each)) {
        const value = each.initializer;
        const first = ts.isArrayLiteralExpression(value) ? value.elements[0] : value;
        if (first) values.set(each.name.getText(), first);
      }
    return values;
  }

  /**
   * @param {ts.Type} type
   * @param {string} name
   */
  function propertiesNamed(type, name) {
    const symbol = names.has(name) ? checker.getPropertyOfType(type, name) : undefined;
    return symbol ? [symbol] : [];
  }

  /** @param {ts.BindingElement} element */
  function boundProperty({ parent, ...element }) {
    const propertyName = element.propertyName ?? element.name;
    if (!ts.isObjectBindingPattern(parent) || !ts.isIdentifier(propertyName)) return undefined;
    if (!names.has(propertyName.text)) return undefined;
    return checker.getPropertyOfType(checker.getTypeAtLocation(parent), propertyName.text);
  }

  /**
   * Returns the property that an expression reads, also under the name that destructuring gave it.
   *
   * @param {ts.Expression} expression
   */
  function propertyOf(expression) {
    if (ts.isPropertyAccessExpression(expression))
      return names.has(expression.name.text)
        ? checker.getSymbolAtLocation(expression.name)
        : undefined;
    if (!ts.isIdentifier(expression)) return undefined;
    const symbol = checker.getSymbolAtLocation(expression);
    const declaration = symbol?.valueDeclaration;
    if (declaration && ts.isBindingElement(declaration)) return boundProperty(declaration);
    return declaration && ts.isParameter(declaration) && names.has(expression.text)
      ? symbol
      : undefined;
  }

  /**
   * The values that a later spread overrides: `{ ...DEFAULTS, ...options }`.
   *
   * @param {ts.ObjectLiteralExpression} literal
   */
  function addOverridden({ properties }) {
    const last = properties.findLastIndex((each) => ts.isSpreadAssignment(each));
    const spread = properties[last];
    if (last < 1 || !spread || !ts.isSpreadAssignment(spread)) return;
    const overridden = properties
      .slice(0, last)
      .filter((each) => ts.isSpreadAssignment(each) || names.has(each.name.getText()));
    if (overridden.length === 0) return;
    const options = checker.getTypeAtLocation(spread.expression);
    for (const each of overridden)
      addProperties(
        options,
        ts.isSpreadAssignment(each) ? constantObject(each.expression) : [each],
      );
  }

  /**
   * `const LIMITS: Limits = { … }`.
   *
   * @param {ts.VariableDeclaration} declaration
   */
  function addConstant({ type, initializer, parent }) {
    if (!type || !initializer || !ts.isSourceFile(parent.parent.parent)) return;
    const value = unwrapped(initializer);
    if (ts.isObjectLiteralExpression(value))
      addProperties(checker.getTypeAtLocation(type), value.properties);
  }

  /**
   * @param {ts.Type} type
   * @param {Iterable<ts.ObjectLiteralElementLike>} properties
   */
  function addProperties(type, properties) {
    for (const each of properties)
      if (ts.isPropertyAssignment(each))
        for (const symbol of propertiesNamed(type, each.name.getText()))
          add(symbol, each.initializer);
  }

  /**
   * `limitOf(options.name)`, where the parameter of `limitOf` has a default; and `complete(options)`, which passes all properties.
   *
   * @param {ts.CallExpression | ts.NewExpression} call
   */
  function addArguments(call) {
    for (const [at, argument] of (call.arguments ?? []).entries()) {
      const isOptions = ts.isIdentifier(argument) && /options$/i.test(argument.text);
      const property = isOptions ? undefined : propertyOf(argument);
      if (!isOptions && property === undefined) continue;
      const parameter = checker.getResolvedSignature(call)?.declaration?.parameters[at];
      if (!parameter || !ts.isParameter(parameter)) continue;
      if (!isOptions && parameter.initializer) add(property, parameter.initializer);
      if (isOptions) addPassed(argument, parameter);
    }
  }

  /**
   * @param {ts.Expression} options
   * @param {ts.ParameterDeclaration} parameter
   */
  function addPassed(options, parameter) {
    const accepted = checker.getTypeAtLocation(parameter);
    for (const { name, declarations: from = [] } of checker
      .getTypeAtLocation(options)
      .getProperties())
      for (const { declarations: to = [] } of propertiesNamed(accepted, name))
        if (from[0] && to[0] && from[0] !== to[0]) passed.push([from[0], to[0]]);
  }

  /** @param {ts.Expression} expression */
  function constantObject(expression) {
    const value = initializerOf(expression, checker);
    return value && ts.isObjectLiteralExpression(value) ? [...value.properties] : [];
  }
}

/**
 * @param {ts.Type} type
 * @returns {type is ts.StringLiteralType}
 */
function isText(type) {
  return type.isStringLiteral();
}

/**
 * Returns the constant value of an expression, or undefined if it has none. An object and a list have their values, in order.
 *
 * @param {ts.Expression} expression
 * @param {ts.TypeChecker} checker
 * @returns {{ readonly value: unknown } | undefined}
 */
export function constantOf(expression, checker) {
  const bare = initializerOf(expression, checker);
  if (bare === undefined) return undefined;
  if (ts.isStringLiteralLike(bare)) return { value: bare.text };
  if (ts.isNumericLiteral(bare)) return { value: Number(bare.text) };
  if (bare.kind === ts.SyntaxKind.TrueKeyword) return { value: true };
  if (bare.kind === ts.SyntaxKind.FalseKeyword) return { value: false };
  if (bare.kind === ts.SyntaxKind.NullKeyword) return { value: null };
  if (ts.isIdentifier(bare) && bare.text === 'Infinity') return { value: Infinity };
  if (ts.isPrefixUnaryExpression(bare) && bare.operator === ts.SyntaxKind.MinusToken) {
    const operand = constantOf(bare.operand, checker);
    return operand && { value: -Number(operand.value) };
  }
  if (ts.isBinaryExpression(bare)) return calculated(bare, checker);
  const parts = ts.isArrayLiteralExpression(bare)
    ? [...bare.elements]
    : ts.isObjectLiteralExpression(bare)
      ? bare.properties.map((each) =>
          ts.isPropertyAssignment(each) ? each.initializer : undefined,
        )
      : undefined;
  const values = parts?.map((each) => each && constantOf(each, checker));
  return values?.every((each) => each !== undefined)
    ? { value: values.map(({ value }) => value) }
    : undefined;
}

/**
 * @param {ts.BinaryExpression} expression
 * @param {ts.TypeChecker} checker
 */
function calculated({ left, operatorToken, right }, checker) {
  const a = Number(constantOf(left, checker)?.value);
  const b = Number(constantOf(right, checker)?.value);
  const value = { '*': a * b, '/': a / b, '+': a + b, '-': a - b, '**': a ** b }[
    operatorToken.getText()
  ];
  return value === undefined || Number.isNaN(value) ? undefined : { value };
}

/**
 * Returns the expression that a constant stands for, through imports; any other expression as it is.
 *
 * @param {ts.Expression} expression
 * @param {ts.TypeChecker} checker
 * @returns {ts.Expression | undefined}
 */
function initializerOf(expression, checker) {
  const bare = unwrapped(expression);
  if (!ts.isIdentifier(bare) && !ts.isPropertyAccessExpression(bare)) return bare;
  let symbol = checker.getSymbolAtLocation(bare);
  if (symbol && symbol.flags & ts.SymbolFlags.Alias) symbol = checker.getAliasedSymbol(symbol);
  const declaration = symbol?.valueDeclaration;
  if (!declaration || ts.isFunctionDeclaration(declaration)) return bare;
  const isConstant =
    ts.isPropertyAssignment(declaration) ||
    (ts.isVariableDeclaration(declaration) &&
      (declaration.parent.flags & ts.NodeFlags.Const) !== 0);
  if (!isConstant || !declaration.initializer) return bare;
  return initializerOf(declaration.initializer, checker);
}

/**
 * @param {ts.Expression} expression
 * @returns {ts.Expression}
 */
function unwrapped(expression) {
  const isWrapped =
    ts.isParenthesizedExpression(expression) ||
    ts.isAsExpression(expression) ||
    ts.isSatisfiesExpression(expression);
  return isWrapped ? unwrapped(expression.expression) : expression;
}
