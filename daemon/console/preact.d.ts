// The part of preact that html.ts uses. Its types bring the types of browsers into every file of
// the service, where they contradict the types of Node (tsconfig.json leads here).
export type ComponentChild =
  | VNode
  | string
  | number
  | bigint
  | boolean
  | null
  | undefined
  | ComponentChild[];

type Type = string | typeof Fragment | Context['Provider'] | Context['Consumer'];

export interface VNode {
  type: Type;
  props: Record<string, unknown>;
}

export declare const Fragment: unique symbol;
export declare function h(
  type: Type,
  props: Record<string, unknown> | null,
  ...children: (ComponentChild | ((value: string) => ComponentChild))[]
): VNode;

/** A text that parts of a page read wherever they stand. */
export interface Context {
  Provider: unique symbol;
  Consumer: unique symbol;
}
export declare function createContext(value: string): Context;
