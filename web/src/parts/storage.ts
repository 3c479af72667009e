/** Storage of the browser. It may be full or switched off: then nothing is kept, and the page works all the same. */
class BrowserStorage {
  constructor(private readonly open: () => Storage) {}

  getItem(name: string): string | null {
    try {
      return this.open().getItem(name);
    } catch {
      return null;
    }
  }

  /** Keep a text; return whether there was room for it. */
  setItem(name: string, text: string): boolean {
    try {
      this.open().setItem(name, text);
      return true;
    } catch {
      return false;
    }
  }

  removeItem(name: string): void {
    try {
      this.open().removeItem(name);
    } catch {
      // There is nothing to remove.
    }
  }

  /** Remove all texts whose names begin with a prefix. */
  removeAll(prefix: string): void {
    try {
      const storage = this.open();
      for (const name of Object.keys(storage)) if (name.startsWith(prefix)) storage.removeItem(name);
    } catch {
      // There is nothing to remove.
    }
  }
}

// A browser that forbids storage throws when it is named.
export const kept = new BrowserStorage(() => localStorage);
export const keptInTab = new BrowserStorage(() => sessionStorage);
