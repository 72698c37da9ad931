/** A line for the log: a text and its structured fields. */
export interface Noted {
  readonly level: 'info' | 'warn' | 'error';
  readonly text: string;
  readonly facts: Readonly<Record<string, unknown>>;
}

export type Note = (level: Noted['level'], text: string, facts: Noted['facts']) => void;
