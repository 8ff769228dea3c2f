// What a hostile call is made of. Calls are valid but for the right to make them: where a wall is
// missing, they succeed. Calls that end something name spare resources, so that the person keeps
// something to send.
import type { Things } from './things.ts';

/** Parts of a request. */
export interface Call {
  params?: Record<string, string>;
  query?: Record<string, string>;
  body?: unknown;
  /** Media type of a body that is not JSON. */
  type?: string;
}

/** Resources that agents attack. */
export interface Targets extends Things {
  /** A proposal that a person will approve, and the draft of an agent that a person will send. */
  action: string;
  agentDraft: string;
  spareAction: string;
  /** The agents' own installations. */
  own: readonly string[];
}

/** Makes the values of one call. */
export interface Hostile {
  /** A line with the mark of hostile words. */
  line(): string;
  /** HTML with that mark. */
  html(): string;
  /** An address of the attacker that no call used before. */
  address(): string;
  /** A lower-case name that no call used before. */
  name(): string;
  /** Revision of the workspace of a template. */
  revision(template: string): Promise<string>;
}

/** Makes the calls of one write. */
export type Calls = (things: Targets, hostile: Hostile) => Call[] | Promise<Call[]>;

/** A write of one call. */
export const one = (make: (things: Targets, hostile: Hostile) => Call): Calls => {
  return (things, hostile) => [make(things, hostile)];
};
/** A call without a body, of the resource with this key. */
export const bare = (key: Exclude<keyof Targets, 'own'>): Calls =>
  one((things) => ({ params: { id: things[key] } }));

/** A hostile file. */
export const file = (hostile: Hostile) => ({
  ...{ filename: `${hostile.name()}.txt`, content: 'ZXZpbA==', contentType: 'text/plain' },
});

/** Hostile words with a file. */
export const emailOf = (hostile: Hostile) => ({
  ...{ subject: hostile.line(), text: hostile.line(), html: hostile.html() },
  attachments: [file(hostile)],
});

/** A hostile mail of a mailbox. */
export const mailOf = (hostile: Hostile) => ({ to: [hostile.address()], ...emailOf(hostile) });

/** A hostile message. */
export const messageOf = (hostile: Hostile, more: object = {}) => ({
  ...{ channel: 'email', to: [{ email: hostile.address() }], email: emailOf(hostile), ...more },
});
