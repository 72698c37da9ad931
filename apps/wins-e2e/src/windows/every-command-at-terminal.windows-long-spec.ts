/** @needs package */
import { tryEveryCommand } from './try-every-command.js';

tryEveryCommand('at a terminal');
