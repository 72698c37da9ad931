/** A separate bundle, because few commands need it, and the regular expressions of string-width take as long to compile as a command to start. */
export { default as stringWidth } from 'string-width';
export { yamlOf } from './output/yaml.js';
