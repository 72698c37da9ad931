import './build-releases.mjs';
