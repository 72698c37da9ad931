import {
  Composer,
  Lexer,
  Parser,
  type CST,
  type Document,
  type DocumentOptions,
  type ParseOptions,
  type SchemaOptions,
} from 'yaml';

/** Limits of a text, which an untrusted party may have written, and options of the `yaml` package. */
export interface ParseYamlOptions extends DocumentOptions, ParseOptions, SchemaOptions {
  /** Maximum depth of lists and maps. Many thousands would overflow the stack of the composer. */
  readonly maxDepth: number;
  /** Maximum number of tokens, not counting spaces and comments. Default: no limit. */
  readonly maxTokens?: number;
  /** Number of faults after which the rest of the text is skipped, because each fault is an error object. Default: no limit. */
  readonly maxFaults?: number;
}

export interface ParsedYaml {
  readonly tokens: readonly CST.Token[];
  /** At least one, even for an empty text. Faults are in `errors` of a document. */
  readonly documents: readonly [Document.Parsed, ...Document.Parsed[]];
}

/** A text that exceeds a limit. It was read up to `offset`. */
export interface ExceededLimit {
  readonly exceeds: 'maxDepth' | 'maxTokens';
  readonly offset: number;
}

/**
 * Parses YAML 1.2 (so also JSON), with the line ends of YAML 1.1, in bounded time and stack. Offsets are those of `text`. Prints no warnings, which would
 * repeat keys.
 */
export function parseYaml(text: string, options: ParseYamlOptions): ParsedYaml | ExceededLimit {
  const { maxDepth, maxTokens = Infinity, maxFaults = Infinity, ...library } = options;
  // Makes LF and CR LF the only line ends. CR CR LF becomes two, as in YAML 1.1.
  const lines = text.replace(/\r(?!\n)|\u0085/g, '\n');
  const parser = new Parser();
  const tokens: CST.Token[] = [];
  let [lexemes, faults] = [0, 0];
  // Iterative, so that it can refuse text too deep for the composer.
  for (const lexeme of new Lexer().lex(lines)) {
    for (const token of parser.next(lexeme)) {
      tokens.push(token);
      if (token.type === 'error') faults += 1;
    }
    if (faults > maxFaults) break;
    if (/[^\s#]/.test(lexeme[0] ?? '')) lexemes += 1;
    const offset = Math.min(parser.offset, lines.length);
    if (lexemes > maxTokens) return { exceeds: 'maxTokens', offset };
    const depth = parser.stack.filter((token) => 'items' in token).length;
    if (depth > maxDepth) return { exceeds: 'maxDepth', offset };
  }
  tokens.push(...parser.end());
  const composer = new Composer({ logLevel: 'silent', ...library });
  const documents = [...composer.compose(tokens, true, lines.length)];
  return { tokens, documents: documents as [Document.Parsed, ...Document.Parsed[]] };
}
