import type { ComponentChildren } from "preact";

/** The frame of a page: its one heading, what can be done, and its content. */
export function Page({ title, actions, children }: {
  readonly title: ComponentChildren;
  readonly actions?: ComponentChildren;
  readonly children: ComponentChildren;
}) {
  return (
    <section class="page">
      <div class="title">
        <h1>{title}</h1>
        {actions !== undefined && <div class="actions">{actions}</div>}
      </div>
      {children}
    </section>
  );
}
