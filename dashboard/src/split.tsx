// A list with the selected thing beside it; on a phone the one or the other.

import type { ComponentChildren, JSX } from "preact";

import { useKeys } from "./keys";

interface Props {
  title: string;
  count?: ComponentChildren;
  filters?: ComponentChildren;
  isOpen: boolean;
  onClose: () => void;
  detail: ComponentChildren;
  children: ComponentChildren;
}

export function Split({ title, count, filters, isOpen, onClose, detail, children }: Props): JSX.Element {
  useKeys(isOpen ? { Escape: onClose } : {});
  return (
    <div class={isOpen ? "split open" : "split"}>
      <div class="split-list">
        <Bar title={title} count={count}>
          {filters}
        </Bar>
        {children}
      </div>
      {isOpen ? (
        <aside class="split-detail" aria-label="Details" tabIndex={0}>
          <button type="button" class="close" onClick={onClose}>
            Close<kbd aria-hidden="true">Esc</kbd>
          </button>
          {detail}
        </aside>
      ) : null}
    </div>
  );
}

export function Bar({ title, count, children }: { title: string; count?: ComponentChildren; children?: ComponentChildren }): JSX.Element {
  return (
    <div class="bar-top">
      <h1>
        {title} {count !== undefined ? <small>{count}</small> : null}
      </h1>
      <div class="filters">{children}</div>
    </div>
  );
}
