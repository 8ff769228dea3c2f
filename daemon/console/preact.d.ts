// The part of preact that html.ts uses. The types of preact itself include the types of browsers
// for every file, where they contradict the types of Node. tsconfig.json maps preact to this file.
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

/** A value that each part of a page below the provider can read. */
export interface Context {
  Provider: unique symbol;
  Consumer: unique symbol;
}
export declare function createContext(value: string): Context;
