/** A separate bundle, because it is larger than the code that most commands need. */
export { printHelp } from './command-line/print-help.js';
export { tableOf } from './output/table.js';
export { yamlOf } from './output/yaml.js';
