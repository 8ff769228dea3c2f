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

type Type = string | typeof Fragment | symbol;

export interface VNode {
  type: Type;
  props: Record<string, unknown>;
}

export declare const Fragment: unique symbol;
export declare function h(
  type: Type,
  props: Record<string, unknown> | null,
  ...children: ComponentChild[]
): VNode;
export declare function h<Value>(
  consumer: Consumer<Value>,
  props: null,
  draw: (value: Value) => ComponentChild,
): VNode;

/** Passes the value of a context to a function that draws a part. */
type Consumer<Value> = symbol & { readonly value: Value };

/** A value that each part of a page below the provider can read. */
export interface Context<Value> {
  Provider: symbol;
  Consumer: Consumer<Value>;
}
export declare function createContext<Value>(value: Value): Context<Value>;
