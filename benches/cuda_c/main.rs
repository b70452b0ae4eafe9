mod cases;
mod code;
fn main() {
    for e in cases::ALL {
        for k in e.kernels {
            let t = code::text(k).unwrap();
            if std::env::args().any(|a| &a == k) {
                println!("{t}");
            }
            println!("{k}: {:?}", code::Code::of(t));
        }
    }
}
