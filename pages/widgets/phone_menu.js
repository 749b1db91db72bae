// On a narrow window the menu lies over the page: close it when one of its links is followed.
// Streamlit closes only its own menu, and keeps this one open on every page.
document.addEventListener("click", (event) => {
  const link = event.target.closest("[data-testid=stSidebar] a[data-testid^=stPageLink]");
  if (link && !event.ctrlKey && !event.metaKey && window.matchMedia("(max-width: 768px)").matches) {
    document.querySelector("[data-testid=stSidebarCollapseButton] button")?.click();
  }
});
