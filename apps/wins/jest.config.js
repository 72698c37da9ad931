const preset = require('../../jest.preset.js');

// Some packages ship only ES modules, which Jest does not load, so they are transpiled like sources.
module.exports = {
  preset: '../../jest.preset.js',
  displayName: 'wins',
  transform: { '\\.(?:ts|m?js)$': Object.values(preset.transform)[0] },
  transformIgnorePatterns: [],
};
