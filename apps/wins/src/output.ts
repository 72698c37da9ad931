/**
 * Layout of text for people: a program of its own, because it is larger than all that most commands need.
 */
export { printHelp } from './command-line/print-help.js';
export { tableOf } from './output/table.js';
export { yamlOf } from './output/yaml.js';
