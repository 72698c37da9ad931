// Every effect.
import './uninstall.spec.js';
