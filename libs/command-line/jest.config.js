const preset = require('../../jest.preset.js');

// Some packages come as ES modules alone, which Jest does not load: they are translated like sources.
module.exports = {
  preset: '../../jest.preset.js',
  displayName: 'command-line',
  transform: { '\\.(?:ts|m?js)$': Object.values(preset.transform)[0] },
  transformIgnorePatterns: [],
};
