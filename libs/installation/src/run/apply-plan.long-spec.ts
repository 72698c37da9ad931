// Repeats the spec with a fault at every effect, instead of at every eighth one, and with more generated plans.
import './apply-plan.spec.js';
