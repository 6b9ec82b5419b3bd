import type { ComponentChildren } from "preact";
import { link, linkWith } from "../../state/router.ts";
import { LongText } from "../../widgets/json_tree.tsx";
import { Page } from "../../widgets/page.tsx";
import { KeyedMenu } from "./keyed_menu.tsx";
import type { Keyed } from "./statements.ts";

/** The frame of a page of one key: the way back to the list, the key, and its scope. */
export function KeyedPage({ list, title, keyed, actions, children }: {
  /** The page of the list. */
  readonly list: "objects" | "workflows";
  readonly title: string;
  readonly keyed: Keyed;
  readonly actions?: ComponentChildren;
  readonly children: ComponentChildren;
}) {
  const { service, key, scope } = keyed;
  const name = list === "objects" ? "key" : "id";
  return (
    <Page
      title={
        <>
          <a href={link(list)}>{title}</a> /{" "}
          <a href={linkWith(list, { filter: `service:${service}` })}>{service}</a> /{" "}
          {key === "" ? <span class="quiet">(empty {name})</span> : <LongText text={key} />}
        </>
      }
      actions={
        <>
          {actions}
          <KeyedMenu keyed={keyed} />
        </>
      }
    >
      {scope !== undefined && (
        <p>
          In the scope <bdi>{scope}</bdi>
        </p>
      )}
      {children}
    </Page>
  );
}
