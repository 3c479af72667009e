import { useId, useState, type ReactNode } from 'react';

export interface MenuItem {
  label: string;
  run: () => void;
  isDangerous?: boolean;
  isDisabled?: boolean;
}

/** A button that opens a list of actions. */
export function Menu({
  label,
  items,
  children,
  className = 'quiet',
}: {
  label: string;
  items: readonly MenuItem[];
  children: ReactNode;
  className?: string;
}) {
  const id = useId();
  const [isOpen, setOpen] = useState(false);
  const close = () => document.getElementById(id)?.hidePopover();
  return (
    <span className="menu-box">
      <button type="button" className={className} aria-label={label} title={label} popoverTarget={id}>
        {children}
      </button>
      <span
        id={id}
        popover="auto"
        className="menu"
        role="group"
        aria-label={label}
        onBeforeToggle={(event) => setOpen(event.newState === 'open')}
        onToggle={(event) => place(event.currentTarget)}
      >
        {(isOpen ? items : []).map((item) => (
          <button
            key={item.label}
            type="button"
            className={item.isDangerous ? 'menu-item dangerous' : 'menu-item'}
            disabled={item.isDisabled}
            onClick={() => (close(), item.run())}
          >
            {item.label}
          </button>
        ))}
      </span>
    </span>
  );
}

/** Put the list below its button, within the page. */
function place(list: HTMLElement): void {
  const button = list.previousElementSibling;
  if (button === null || !list.matches(':popover-open')) return;
  const at = button.getBoundingClientRect();
  const top = at.bottom + list.offsetHeight + 8 > innerHeight ? at.top - list.offsetHeight - 4 : at.bottom + 4;
  list.style.top = `${Math.max(4, top)}px`;
  list.style.left = `${Math.max(4, Math.min(at.right - list.offsetWidth, innerWidth - list.offsetWidth - 4))}px`;
}
