// Resolves './name.js' to './name.ts', because TypeScript sources import the .js name.
module.exports = (request, options) => {
  try {
    return options.defaultResolver(request, options);
  } catch (error) {
    if (!/^\.{1,2}\/.*\.js$/.test(request)) throw error;
    return options.defaultResolver(request.replace(/\.js$/, '.ts'), options);
  }
};
