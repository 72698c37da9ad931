// Repeats the spec with a fault at every effect, and with more plans.
import './apply-plan.spec.js';
