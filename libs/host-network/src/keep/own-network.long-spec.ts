// The long tier tries more cases.
import './own-network.spec.js';
