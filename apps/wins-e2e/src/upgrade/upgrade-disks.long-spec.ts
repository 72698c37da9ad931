// A disk with any number of pages left.
import './upgrade-disks.spec.js';
