// The part of preact that html.ts uses. Its own types bring those of browsers into every file of the service, where they
// contradict those of Node (tsconfig.json leads here).
export type ComponentChild =
  | VNode
  | string
  | number
  | bigint
  | boolean
  | null
  | undefined
  | ComponentChild[];

export interface VNode {
  type: string | typeof Fragment;
  props: Record<string, unknown>;
}

export declare const Fragment: unique symbol;
export declare function h(
  type: string | typeof Fragment,
  props: Record<string, unknown> | null,
  ...children: ComponentChild[]
): VNode;
