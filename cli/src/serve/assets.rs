//! The page's own files, which are part of the program.

use std::sync::Arc;

use axum::Router;
use axum::http::header;
use axum::routing::get;

use super::Page;

const HTML: &str = "text/html; charset=utf-8";
const CSS: &str = "text/css; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";
const PICTURE: &str = "image/svg+xml";

macro_rules! asset {
    ($path:literal, $file:literal, $kind:expr) => {
        ($path, include_str!(concat!("../../page/", $file)), $kind)
    };
}

const ASSETS: [(&str, &str, &str); 11] = [
    asset!("/", "index.html", HTML),
    asset!("/page.css", "page.css", CSS),
    asset!("/icon.svg", "icon.svg", PICTURE),
    asset!("/main.js", "main.js", SCRIPT),
    asset!("/server.js", "server.js", SCRIPT),
    asset!("/dom.js", "dom.js", SCRIPT),
    asset!("/plot.js", "plot.js", SCRIPT),
    asset!("/overview.js", "overview.js", SCRIPT),
    asset!("/list.js", "list.js", SCRIPT),
    asset!("/instance.js", "instance.js", SCRIPT),
    asset!("/timeline.js", "timeline.js", SCRIPT),
];

pub fn routes() -> Router<Arc<Page>> {
    let mut router = Router::new();
    for (path, text, kind) in ASSETS {
        let answer = ([(header::CONTENT_TYPE, kind)], text);
        router = router.route(path, get(move || async move { answer }));
    }
    router
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Texts of strangers reach the page as text: nothing in it makes markup of a string.
    #[test]
    fn no_script_makes_markup_of_text() {
        let makers = [
            "innerHTML",
            "outerHTML",
            "insertAdjacentHTML",
            "document.write",
            "eval(",
        ];
        for (path, text, _) in ASSETS {
            for maker in makers {
                assert!(!text.contains(maker), "{path} uses {maker}");
            }
            assert!(
                !text.contains("http://") || path == "/icon.svg" || path == "/dom.js",
                "{path} names another place"
            );
            assert!(!text.contains("https://"), "{path} names another place");
        }
    }

    /// Every script that another imports is there.
    #[test]
    fn imports_are_served() {
        let paths: Vec<_> = ASSETS.iter().map(|(path, ..)| *path).collect();
        for (path, text, _) in ASSETS {
            let imports = text
                .lines()
                .filter_map(|line| line.split_once(" from \"./"));
            for (_, rest) in imports {
                let wanted = format!("/{}", rest.trim_end_matches(['"', ';']));
                assert!(paths.contains(&wanted.as_str()), "{path} imports {wanted}");
            }
        }
    }
}
