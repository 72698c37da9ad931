/** The YAML parser alone, and the nodes that it returns, for programs that make no requests. */
export { isAlias, isMap, isNode, isScalar, isSeq, visit } from 'yaml';
export type { Alias, CST, Document, Node, Pair, Scalar, YAMLMap, YAMLSeq } from 'yaml';
export { parseYaml, type ParsedYaml, type ParseYamlOptions } from './parse-yaml.js';
