// The specs of all projects but two, in one run: the files are looked for once, and the workers keep what they have compiled.
const { existsSync, readdirSync } = require('node:fs');
const path = require('node:path');

const root = path.resolve(__dirname, '../..');
const projects = ['libs', 'apps']
  .flatMap((folder) => readdirSync(path.join(root, folder)).map((name) => `${folder}/${name}`))
  // A snapshot of the heap is taken in libs/diagnostics: that of a worker is too large once it has run the specs of others.
  .filter((project) => !['apps/wins-e2e', 'libs/diagnostics'].includes(project))
  .filter((project) => existsSync(path.join(root, project, 'jest.config.js')));

module.exports = {
  projects: projects.map((project) => path.join(root, project)),
  // Programs that wait for each other take half of one core.
  maxWorkers: 3,
  // Jest takes it from here alone: the longest of the projects.
  testTimeout: 180_000,
  reporters: ['default', path.join(root, 'tools/jest-summary-reporter.js')],
};
