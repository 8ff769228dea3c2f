// Nouns: the kinds of resources. A declaration in the schema.ts of a resource gives the prefix of
// ids and the audited changes. The area of the noun (area.ts) refers to the declaration, so
// daemon/http/routes.ts finds all nouns.
import type { IdSpace } from '../../platform/runtime/ids.ts';

declare const audited: unique symbol;

/** An audited change of a noun, such as `sender.created`. Only `noun` makes an action. */
export type NounAction = string & { readonly [audited]: true };

export interface Noun extends IdSpace {
  /** Singular, as the audit shows it: `unsubscribe-group`. */
  readonly name: string;
  readonly created: NounAction;
  readonly updated: NounAction;
  readonly deleted: NounAction;
}

/** Declares a noun; `prefix` begins the ids of the noun. */
export function noun(name: string, prefix: string): Noun {
  const action = (change: string) => `${name}.${change}` as NounAction;
  return {
    name,
    prefix,
    created: action('created'),
    updated: action('updated'),
    deleted: action('deleted'),
  };
}
