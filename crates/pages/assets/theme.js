// The theme: that of the system, or the one that the person chose on this device.

import { byId } from "./dom.js";

const PLACE = "accord.theme";

function apply(theme) {
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
  else delete document.documentElement.dataset.theme;
}

export function startTheme() {
  const select = byId("theme");
  const kept = localStorage.getItem(PLACE) ?? "system";
  apply(kept);
  select.value = document.documentElement.dataset.theme ?? "system";
  select.addEventListener("change", () => {
    localStorage.setItem(PLACE, select.value);
    apply(select.value);
  });
}
